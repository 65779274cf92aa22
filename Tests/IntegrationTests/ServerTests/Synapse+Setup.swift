import Glibc
import HandoffProtocol
import HandoffTestSupport
import LinuxSystem
import Paths
import Testing

/// How it is set up.
extension Synapse {
  func configure() throws {
    try tell()
    try DurableFile.write(Array(Self.module.utf8), to: root.appending("limits.py"))
    let plenty = JSONValue.object(["per_second": .integer(10000), "burst_count": .integer(10000)])
    let file = root.lossyText
    let listener = JSONValue.object([
      "port": .integer(Int64(port)), "type": .string("http"),
      "bind_addresses": .array([.string("127.0.0.1")]),
      "resources": .array([.object(["names": .array([.string("client")])])]),
    ])
    let configuration: [String: JSONValue] = [
      "server_name": .string(Self.name), "report_stats": .bool(false),
      "trusted_key_servers": .array([]), "federation_domain_whitelist": .array([]),
      "listeners": .array([listener]), "registration_shared_secret": .string("for tests"),
      "macaroon_secret_key": .string("for tests"), "form_secret": .string("for tests"),
      "signing_key_path": .string("\(file)/signing.key"),
      "media_store_path": .string("\(file)/media"),
      "pid_file": .string("\(file)/pid"),
      "database": .object([
        "name": .string("sqlite3"), "args": .object(["database": .string("\(file)/db")]),
      ]),
      "max_upload_size": .integer(Int64(Self.uploadLimit)),
      "max_pending_media_uploads": .integer(1000),
      "rc_media_create": plenty, "rc_login": .object(["address": plenty, "account": plenty]),
      "rc_joins": .object(["local": plenty]),
      // For users without an exception (MatrixUser): one message, and another after four seconds.
      "rc_message": .object(["per_second": .number(0.25), "burst_count": .integer(1)]),
      "modules": .array([
        .object([
          "module": .string("limits.Limits"),
          "config": .object(["path": .string("\(file)/limits.json")]),
        ])
      ]),
    ]
    // JSON is YAML.
    try DurableFile.write(
      try WireCoder.encode(JSONValue.object(configuration)),
      to: root.appending("homeserver.yaml")
    )
    let key = "ed25519 a_test \(String(repeating: "A", count: 42))E\n"
    try DurableFile.write(Array(key.utf8), to: root.appending("signing.key"))
  }

  func makeAdministrator() async throws {
    var command = ProcessCommand(
      commands.appending("python"),
      arguments: [
        "-m", "synapse._scripts.register_new_matrix_user", "-k", "for tests", "-u", "admin", "-p",
        "password", "--admin", BytePath(url),
      ],
      environment: ["PATH=/usr/bin:/bin"]
    )
    let log = try FileDescriptor.open(root.appending("log"), O_WRONLY | O_CREAT | O_APPEND)
    command.descriptors = [1: log, 2: log]
    let ended = await (try SpawnedProcess.spawn(command)).exit()
    #expect(ended == .exited(0), "no administrator")
  }

  private static let module = """
    import json
    from synapse.module_api import MediaUploadLimit

    class Limits:
        def __init__(self, config, api):
            self.path = config["path"]
            api.register_media_repository_callbacks(
                get_media_config_for_user=self.told,
                get_media_upload_limits_for_user=self.quotas,
            )

        def read(self, kind, user):
            with open(self.path) as file:
                return json.load(file)[kind].get(user)

        async def told(self, user):
            told = self.read("told", user)
            return {"m.upload.size": told} if told else None

        async def quotas(self, user):
            quota = self.read("quotas", user)
            return [MediaUploadLimit(max_bytes=quota, time_period_ms=3600000)] if quota else None

    """
}
