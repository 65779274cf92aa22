import Glibc
import LinuxSystem
import Paths

/// A plugin in Python that misbehaves in one way, and what it has written down in its work folder.
struct ScriptedPlugin {
  private let work: BytePath

  init(_ name: String, _ scene: Scene) {
    work = scene.broker.root.appending("state/work/\(name)")
  }

  /// `started` for each of its lives, and the methods it was called with.
  var heard: [String] {
    get throws { try text("heard").split(separator: "\n").map(String.init) }
  }

  /// The last state token that it was given.
  var token: String {
    get throws { try text("token") }
  }

  private func text(_ name: String) throws -> String {
    let file = try FileDescriptor.open(work.appending(BytePath(name)), O_RDONLY)
    return String(decoding: try file.readAll(limit: 1 << 20), as: UTF8.self)
  }

  /// Runs a test on a broker with some such plugins: a name, how it misbehaves, further settings.
  static func run(
    _ plugins: [(String, String, String)],
    more: String = "",
    _ body: nonisolated(nonsending) (Scene) async throws -> Void
  ) async throws {
    try await PythonPlugin.run(program, plugins, more: more, body)
  }

  private static let program =
    PythonPlugin.wire + """
      import sys

      mode = sys.argv[1]
      heard = open(os.path.join(work, "heard"), "a", buffering=1)
      heard.write("started\\n")

      def result(state, **more):
          return dict({"protocol_version": 3, "state": state, "result": "success"}, **more)

      def report(document):
          send({"id": "r", "method": "handoff.result", "params": document})

      def submit(call, request):
          state = request["state"]
          with open(os.path.join(work, "token"), "w") as file:
              file.write(state)
          words = {"code": "receiver_failed", "message": "no: " + state, "effect": "none",
                   "retry": "never", "remedy": "ask " + state}
          if mode == "refuses":
              return send({"id": call, "result": {"accepted": False, "error": words}})
          if mode == "fails":
              return send({"id": call, "error": {"code": -32000, "message": "no: " + state}})
          send({"id": call, "result": {"accepted": True}})
          if mode == "done": report(result(state))
          if mode == "tells": report(result(state, result="failure", error=words))
          if mode == "malformed": report(result(state, result=state))

      def probe(call, asked):
          answer = {"handoff_id": asked["handoff_id"], "standing": "finished"}
          if mode == "works": answer["standing"] = "working"
          if mode == "foreign": answer["result"] = result("1." + "A" * 43)
          if mode == "twice":
              answer["result"] = result(asked["state"])
              report(answer["result"])
          send({"id": call, "result": answer})

      for message, method, call, params in messages():
          if method is None: continue
          heard.write(method + "\\n")
          if method == "discover":
              describe(call, "scripted", ["probe", "cancel"])
          elif method == "submit": submit(call, params["request"])
          elif method == "probe": probe(call, params)
          else: send({"id": call, "result": {}})
      """
}
