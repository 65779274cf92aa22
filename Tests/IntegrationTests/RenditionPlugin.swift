import Glibc
import HandoffProtocol
import LinuxSystem
import Paths
import Testing

/// A receiver in Python that registers what it derives (`make`), or says what it was given (`take`).
///
/// A title that begins with `try` names files, one word each, which it registers in its work folder, and its
/// output says what it was answered; `bare` registers nothing, `fail` fails, and
/// `hold` waits for a file `go` in its work folder.
struct RenditionPlugin {
  /// A `plugin` destination.
  static func destination(_ name: String, _ mode: String, _ more: String = "") -> String {
    """
    [destination.\(name)]
    transport = "plugin"
    command = ["python3", "ROOT/rendition.py", "\(mode)"]
    containment = "none"
    \(more)

    """
  }

  /// Writes the program beside the configuration.
  static func write(in root: BytePath) throws {
    let path = root.appending("rendition.py")
    try DurableFile.write(Array(program.utf8), to: path, permissions: 0o755)
  }

  /// A configuration; `ROOT` in the destinations is the broker's folder.
  static func configuration(
    _ handoff: [String],
    _ destinations: String,
    in root: BytePath
  ) -> String {
    Scene.configuration(
      handoff: handoff,
      destinations: destinations.replacing("ROOT", with: root.lossyText)
    )
  }

  /// Runs a test on a broker with such plugins.
  static func run(
    _ handoff: [String],
    _ destinations: String,
    _ body: nonisolated(nonsending) (Scene) async throws -> Void
  ) async throws {
    try await Scene.run("", starting: false) { scene in
      let root = scene.broker.root
      try write(in: root)
      let text = configuration(handoff, destinations, in: root)
      try DurableFile.write(Array(text.utf8), to: scene.broker.config)
      try await scene.broker.start()
      try await body(scene)
    }
  }

  private static let program =
    PythonPlugin.wire + """
      import hashlib, queue, sys, time

      mode = sys.argv[1]
      answers = {}

      def ask(method, **params):
          call = "c%d" % next(numbers)
          answers[call] = queue.Queue()
          send({"id": call, "method": method, "params": params})
          return answers[call].get()

      def digest(path):
          with open(path, "rb") as file: return hashlib.sha256(file.read()).hexdigest()

      def register(state, asset, path, name="proxy"):
          answer = ask("asset.register", state=state, local_identifier=asset, name=name, path=path)
          if "result" in answer: return answer["result"]["sha256"]
          return answer["error"].get("data", {}).get("code", str(answer["error"]["code"]))

      def proxy(given, tail):
          # Whole, and with a digest of its own: a free box follows.
          path = os.path.join(work, "proxy.mov")
          with open(given, "rb") as source, open(path, "wb") as target:
              target.write(source.read() + b"\\0\\0\\0\\x10free" + tail)
          return path

      def perform(request):
          state, asset = request["state"], request["local_identifiers"][0]
          title = request.get("title", "").split()
          while "hold" in title and not os.path.exists(os.path.join(work, "go")): time.sleep(0.05)
          granted = ask("asset.resolve", state=state, local_identifier=asset)["result"]
          output = {"sha256": digest(granted["path"]), "name": os.path.basename(granted["path"]),
                    "rendition": granted.get("rendition", "original")}
          document = {"protocol_version": 3, "state": state, "result": "success", "output": output}
          if "fail" in title:
              del document["output"]
              document.update(result="failure", error={
                  "code": "auth", "message": "who are you?", "effect": "none", "retry": "after_fix"})
          elif title[:1] == ["try"]:
              for word in title[1:]:
                  path = word if word.startswith("/") else os.path.join(work, word)
                  output[word] = register(state, asset, path)
              output["foreign"] = register(state, "0" * 8 + "-0000-8000-8000-" + "0" * 12 + "/L0/001",
                                           os.path.join(work, "proxy.mov"))
              output["forged"] = register("1." + "A" * 43, asset, os.path.join(work, "proxy.mov"))
              output["badname"] = register(state, asset, os.path.join(work, "proxy.mov"), "../proxy")
          elif mode == "make" and "bare" not in title:
              path = proxy(granted["path"], b"proxy" + b"%03d" % len(title))
              output["proxy"] = register(state, asset, path)
              output["again"] = register(state, asset, path)
              os.unlink(path)
          send({"id": "r%d" % next(numbers), "method": "handoff.result", "params": document})

      for message, method, call, params in messages():
          if method is None:
              if call in answers: answers[call].put(message)
          elif method == "discover":
              describe(call, "renditions", ["reconcile"])
          elif method == "submit":
              send({"id": call, "result": {"accepted": True}})
              threading.Thread(target=perform, args=(params["request"],), daemon=True).start()
          elif method == "reconcile":
              send({"id": call, "result": {"handoffs": [
                  {"handoff_id": h["handoff_id"], "standing": "not_received"}
                  for h in params["handoffs"]]}})
          else: send({"id": call, "result": {}})
      """
}

extension Scene {
  /// The one handoff of an asset to a destination, once it has a status.
  func handoff(of asset: String, to destination: String, is status: String) async throws
    -> JSONValue
  {
    let all = try await broker.wait("handoffs") { all in
      all.elements.contains {
        $0["local_identifiers"]?.elements.first == .string(asset)
          && $0["destination"]?.text == destination && $0["status"]?.text == status
      }
    }
    return try #require(
      all.elements.first {
        $0["local_identifiers"]?.elements.first == .string(asset)
          && $0["destination"]?.text == destination
      }
    )
  }
}
