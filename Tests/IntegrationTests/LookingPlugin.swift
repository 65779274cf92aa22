import Glibc
import HandoffProtocol
import LinuxSystem
import Paths
import Testing

/// A receiver in Python that is asked how it is and whether what it did is still there, and answers as its
/// mode and the titles of the handoffs say; it notes in its work folder what it heard (`heard`).
enum LookingPlugin {
  /// Runs a test on a broker with some such plugins: a name, a mode and further settings.
  static func run(
    _ plugins: [(String, String, String)],
    starting: Bool = true,
    _ body: nonisolated(nonsending) (Scene) async throws -> Void
  ) async throws {
    try await PythonPlugin.run(program, plugins, starting: starting, body)
  }

  private static let program =
    PythonPlugin.wire + """
      import sys, time

      mode = sys.argv[1]
      def heard(line):
          with open(os.path.join(work, "heard"), "a") as f: f.write(line + "\\n")

      def checks():
          return [{"name": "credentials", "passed": True, "detail": "the token is that of @me"},
                  {"name": "limits", "passed": False, "detail": "the account is full", "remedy": "empty it"}]

      def status(call, params):
          if (params or {}).get("checks"):
              if mode == "hang": return
              if mode == "die": os._exit(3)
              if mode == "shape": return send({"id": call, "result": {"status": 17, "checks": "many"}})
              if mode == "checks": return send({"id": call, "result": {"status": "up", "checks": checks()}})
              if mode == "down": return send({"id": call, "result": {"status": "down", "reason": "no network"}})
          if os.path.exists(os.path.join(work, "mute")): return
          send({"id": call, "result": {"status": "up"}})

      def verify(call, params):
          words = params["output"]["path"]
          def found(asset, standing="intact"):
              return {"local_identifier": asset["local_identifier"], "standing": standing,
                      "location": words, "method": "sha256"}
          assets = params["assets"]
          answer = [found(asset) for asset in assets]
          for standing in ("present", "damaged", "missing", "unknown"):
              if standing in words: answer = [found(asset, standing) for asset in assets]
          if "wrong" in words: answer = [dict(found(asset), local_identifier="D2529F03-AF26-8F54-A13F-3C886FA9359E/L0/001") for asset in assets]
          if "double" in words: answer = answer + [found(asset, "damaged") for asset in assets]
          if "digest" in words: answer = [dict(found(asset), message="%s %d" % (asset["sha256"], asset["size"])) for asset in assets]
          if "wait" in words:
              while not os.path.exists(os.path.join(work, "go")): time.sleep(0.05)
          if "strange" in words: answer = [found(asset, "splendid") for asset in assets]
          send({"id": call, "result": {"assets": answer}})
          if "again" in words: send({"id": call, "result": {"assets": [found(asset, "damaged") for asset in assets]}})

      for message, method, call, params in messages():
          if method is None: continue
          heard(" ".join([method, (params or {}).get("handoff_id", "")]))
          if method == "discover":
              describe(call, "looker", ["verify", "status"] if mode != "blind" else ["status"])
          elif method == "status":
              if mode == "old": send({"id": call, "error": {"code": -32601, "message": "unsupported"}})
              else: status(call, params)
          elif method == "submit":
              request = params["request"]
              send({"id": call, "result": {"accepted": True}})
              send({"id": "r %d" % next(numbers), "method": "handoff.result", "params": {
                  "protocol_version": 3, "state": request["state"], "result": "success",
                  "output": {"path": "/shelf/" + request.get("title", "")}}})
          elif method == "verify": threading.Thread(target=verify, args=(call, params), daemon=True).start()
          elif method and call is not None: send({"id": call, "result": {}})
      """
}

extension Scene {
  /// What a ``LookingPlugin`` has heard.
  func heard(by name: String) throws -> [String] {
    let path = broker.root.appending("state/work/\(name)/heard")
    guard try FileStatus.of(path) != nil else { return [] }
    let bytes = try FileDescriptor.open(path, O_RDONLY).readAll(limit: 1 << 20)
    return String(decoding: bytes, as: UTF8.self).split(separator: "\n").map(String.init)
  }

  /// Hands one asset off under a title for each, and waits until all have succeeded.
  func succeed(_ titles: [String], at destination: String, _ number: UInt64 = 1) async throws
    -> [BytePath]
  {
    let asset = try await asset(number)
    var ids: [BytePath] = []
    for title in titles { ids.append(try await send(asset, to: destination, title)) }
    for id in ids { try await wait(id, until: "succeeded") }
    return ids
  }

  /// Runs `handoff destinations verify`, and reads what it found.
  func verify(_ words: BytePath...) async throws -> (CInt, [JSONValue], String) {
    let ended = try await broker.command(["destinations", "verify"] + words + ["--json"])
    guard !ended.output.isEmpty else { return (ended.code, [], ended.errors) }
    let found = try WireCoder.decode(JSONValue.self, from: ended.output, limit: .max)
    return (ended.code, found.elements, ended.errors)
  }
}
