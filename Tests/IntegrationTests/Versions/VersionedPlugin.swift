import Glibc
import HandoffClient
import HandoffProtocol
import LinuxSystem
import Paths
import Testing

/// A plugin in Python that reads certain versions of the protocol, behaves in one way, and writes down
/// the documents that it is given.
struct VersionedPlugin {
  var name: String
  /// JSON, or `none` for a plugin that states nothing.
  var versions: String
  /// `done` for one that does what it is asked.
  var mode = "done"
  /// Further lines of its configuration.
  var settings = ""

  /// Runs a test on a broker with some such plugins and two assets.
  static func run(
    _ plugins: [VersionedPlugin],
    more: String = "",
    _ body: nonisolated(nonsending) (VersionScene) async throws -> Void
  ) async throws {
    try await Scene.run("", starting: false) { scene in
      let program = scene.broker.root.appending("plugin.py")
      try DurableFile.write(Array(Self.program.utf8), to: program, permissions: 0o755)
      let destinations = plugins.map { plugin in
        """
        [destination.\(plugin.name)]
        transport = "plugin"
        command = ["python3", "\(program)", "\(plugin.versions)", "\(plugin.mode)"]
        containment = "none"
        \(plugin.settings)

        """
      }
      let text = Scene.configuration(destinations: destinations.joined() + more)
      try DurableFile.write(Array(text.utf8), to: scene.broker.config)
      try await scene.broker.start()
      try await body(VersionScene(scene))
    }
  }

  private static let program =
    PythonPlugin.wire + """
      import sys

      versions, mode = sys.argv[1], sys.argv[2]

      def note(name, text):
          with open(os.path.join(work, name), "a") as file:
              file.write(text + "\\n")

      def result(request, **more):
          version = 2 if mode == "two" else request["protocol_version"]
          return dict({"protocol_version": version, "state": request["state"],
                       "result": "success", "output": {"version": version}}, **more)

      def preflight(call, params):
          note("preflights", json.dumps(params))
          answer = {"accepted": True, "changes": ["it would be made smaller"]}
          if mode == "picky":
              answer = {"accepted": False, "error": {
                  "code": "quota", "message": "full today", "effect": "none", "retry": "later"}}
          send({"id": call, "result": answer})

      def submit(call, request):
          note("requests", json.dumps(request, sort_keys=True))
          more = {"colour": {"deep": [1]}} if mode == "newer" else {}
          send({"id": call, "result": dict({"accepted": True}, **more)})
          if mode == "newer": send({"id": "n", "method": "asset.dream", "params": {"a": 1}})
          if mode == "holds": return
          send({"id": "r", "method": "handoff.result", "params": result(request, **more)})

      def reconcile(call, handoffs):
          for handoff in handoffs: note("reconciled", json.dumps(handoff["request"], sort_keys=True))
          send({"id": call, "result": {"handoffs": [
              {"handoff_id": h["handoff_id"], "standing": "finished", "result": result(h["request"])}
              for h in handoffs]}})

      for message, method, call, params in messages():
          if method is None:
              if "error" in message: note("refusals", json.dumps(message["error"]))
              continue
          if method == "discover":
              answer = {"name": "versioned", "version": "1",
                        "capabilities": ["reconcile", "preflight"]}
              if versions != "none": answer["protocol_versions"] = json.loads(versions)
              if mode == "newer": answer["mood"] = "good"
              if mode == "mute": answer["capabilities"] = []
              send({"id": call, "result": answer})
          elif method == "preflight": preflight(call, params)
          elif method == "submit": submit(call, params["request"])
          elif method == "reconcile": reconcile(call, params["handoffs"])
          else: send({"id": call, "result": {}})
      """
}

/// A broker with versioned plugins, two assets, and a sender.
struct VersionScene {
  let scene: Scene
  let assets: [LocalIdentifier]
  let client: HandoffClient

  init(_ scene: Scene) async throws {
    self.scene = scene
    var assets: [LocalIdentifier] = []
    for number in 1...2 {
      let path = scene.broker.root.appending("cut \(number).mp4")
      try DurableFile.write(try await Scene.video(UInt64(number)), to: path)
      let answer = try await scene.broker.json("import", path)
      let text = (answer.elements.first ?? answer)["local_identifier"]?.text
      assets.append(try #require(LocalIdentifier(text ?? "")))
    }
    self.assets = assets
    client = HandoffClient(socket: scene.broker.root.appending("state/handoff.sock"))
  }

  /// A document for one destination.
  func request(_ destination: String, _ count: Int = 1, title: String? = nil) throws -> SendRequest
  {
    let name = try #require(DestinationName(destination))
    return SendRequest(Array(assets.prefix(count)), to: name, title: title)
  }

  /// What a plugin has written down under a name, one document each.
  func noted(_ name: BytePath, by plugin: String) throws -> [JSONValue] {
    let path = scene.broker.root.appending("state/work/\(plugin)").appending(name)
    guard try FileStatus.of(path) != nil else { return [] }
    let bytes = try FileDescriptor.open(path, O_RDONLY).readAll(limit: 1 << 24)
    return try bytes.split(separator: UInt8(ascii: "\n")).map { line in
      try WireCoder.decode(JSONValue.self, from: line)
    }
  }

  /// The version in the ledger's row.
  func recordedVersion(_ id: String) async throws -> Int64? {
    try await scene.broker.json("show", BytePath(id))["protocol_version"]?.integer
  }

  /// Waits until a destination's status is such, and returns its detail.
  func detail(of destination: String, when status: String) async throws -> String {
    let found = try await scene.broker.wait("status") { report in
      report["destinations"]?.elements.contains { shown in
        shown["name"]?.text == destination && shown["status"]?.text == status
          && shown["detail"]?.text != "starting"
      } == true
    }
    let shown = found["destinations"]?.elements.first { $0["name"]?.text == destination }
    return shown?["detail"]?.text ?? ""
  }
}
