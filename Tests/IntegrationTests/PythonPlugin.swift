import HandoffTestSupport
import LinuxSystem
import Paths

/// The part that plugins in Python have in common, before what each of them does.
///
/// It has `work`, `send(message)`, `describe(call, name, capabilities)`, `messages()` until `shutdown`, a
/// `lock`, which `send` takes for a moment, and `numbers` for ids of its own.
enum PythonPlugin {
  static let wire = """
    #!/usr/bin/env python3
    import itertools, json, os, socket, threading

    work = os.environ["HANDOFF_WORK"]
    wire = socket.socket(fileno=int(os.environ["HANDOFF_FD"]))
    # Apart: writing to a text file drops what was read ahead from it.
    lines = wire.makefile("r", encoding="utf-8", newline="\\n")
    out = wire.makefile("w", encoding="utf-8", newline="\\n")
    lock = threading.Lock()
    numbers = itertools.count()

    def send(message):
        with lock:
            out.write(json.dumps(dict(message, jsonrpc="2.0")) + "\\n")
            out.flush()

    def describe(call, name, capabilities):
        send({"id": call, "result": {
            "name": name, "version": "1", "protocol_versions": [3],
            "constraints": {}, "capabilities": capabilities}})

    def messages():
        for line in lines:
            message = json.loads(line)
            yield message, message.get("method"), message.get("id"), message.get("params")
            if message.get("method") == "shutdown": break


    """

  /// Runs a test on a broker with some plugins of one program.
  ///
  /// - Parameters:
  ///   - program: its text.
  ///   - plugins: for each a name, the mode that is its argument, and further settings of the destination.
  ///   - more: further configuration.
  ///   - starting: whether the broker is started before the test.
  ///   - body: the test.
  /// - Throws: what the test throws.
  static func run(
    _ program: String,
    _ plugins: [(String, String, String)],
    more: String = "",
    starting: Bool = true,
    _ body: nonisolated(nonsending) (Scene) async throws -> Void
  ) async throws {
    try await Scene.run("", starting: false) { scene in
      let path = scene.broker.root.appending("plugin.py")
      try DurableFile.write(Array(program.utf8), to: path, permissions: 0o755)
      let destinations = plugins.map { name, mode, settings in
        """
        [destination.\(name)]
        transport = "plugin"
        command = ["python3", "\(path)", "\(mode)"]
        containment = "none"
        \(settings)

        """
      }
      let text = Scene.configuration(destinations: destinations.joined() + more)
      try DurableFile.write(Array(text.utf8), to: scene.broker.config)
      if starting { try await scene.broker.start() }
      try await body(scene)
    }
  }
}
