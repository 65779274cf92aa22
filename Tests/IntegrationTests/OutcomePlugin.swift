import Glibc
import HandoffProtocol
import LinuxSystem
import Paths
import Testing

/// A receiver in Python that does what the title of each handoff says, and keeps in its work folder what
/// it heard (`heard`), did (`done`) and was told of its assets (`resolved`).
///
/// Titles are words: what it does first, and what it answers to `cancel` and `probe`.
struct OutcomePlugin {
  let scene: Scene
  let name: String

  private var work: BytePath { scene.broker.root.appending("state/work/\(name)") }

  /// Runs a test on a broker with such plugins: a name, the capabilities, further settings.
  static func run(
    _ plugins: [(String, String, String)],
    more: String = "",
    _ body: nonisolated(nonsending) (Scene) async throws -> Void
  ) async throws {
    try await Scene.run("", starting: false) { scene in
      let text = try configuration(plugins, more: more, in: scene.broker.root)
      try DurableFile.write(Array(text.utf8), to: scene.broker.config)
      try await scene.broker.start()
      try await body(scene)
    }
  }

  /// Writes the program into a broker's folder, and returns the configuration.
  static func configuration(
    _ plugins: [(String, String, String)],
    more: String = "",
    in root: BytePath
  ) throws -> String {
    let program = root.appending("plugin.py")
    try DurableFile.write(Array(Self.program.utf8), to: program, permissions: 0o755)
    let destinations = plugins.map { name, capabilities, settings in
      """
      [destination.\(name)]
      transport = "plugin"
      command = ["python3", "\(program)", "\(capabilities)"]
      containment = "none"
      \(settings)

      """
    }
    return Scene.configuration(destinations: destinations.joined() + more)
  }

  /// The lines of one of its files; none where there is no such file yet.
  func lines(_ file: BytePath) throws -> [String] {
    let path = work.appending(file)
    guard try FileStatus.of(path) != nil else { return [] }
    let bytes = try FileDescriptor.open(path, O_RDONLY).readAll(limit: 1 << 20)
    return String(decoding: bytes, as: UTF8.self).split(separator: "\n").map(String.init)
  }

  /// Gives it a command: `success`, `progress`, `need`, `resolve ID`, `die`, each about the last request.
  func tell(_ words: String) throws {
    let path = work.appending("commands")
    let fifo = try checked("open", path) { open(path.nulTerminated, O_WRONLY | O_CLOEXEC) }
    let bytes = Array((words + "\n").utf8)
    _ = try checked("write", path) { write(fifo, bytes, bytes.count) }
    try checked("close", path) { close(fifo) }
  }

  private static let program =
    PythonPlugin.wire + """
      import hashlib, sys, datetime, time

      capabilities = sys.argv[1].split(",") if sys.argv[1] else []
      last = {}

      def note(file, line):
          with open(os.path.join(work, file), "a") as f: f.write(line + "\\n")

      def result(state, kind="success", **more):
          return dict({"protocol_version": 3, "state": state, "result": kind}, **more)

      def report(state, kind="success", **more):
          send({"id": "r %d" % next(numbers), "method": "handoff.result", "params": result(state, kind, **more)})

      def progress(**more):
          send({"id": "p %d" % next(numbers), "method": "handoff.progress", "params": dict({"state": last["state"]}, **more)})

      def resolve(state, asset):
          send({"id": "a %s %d" % (asset, next(numbers)), "method": "asset.resolve",
                "params": {"state": state, "local_identifier": asset}})

      def late(request):
          moment = datetime.datetime.strptime(request["expires_at"], "%Y-%m-%dT%H:%M:%S.%f%z")
          shift = float(request["title"].split()[1])
          threading.Timer(moment.timestamp() - time.time() + shift, report,
                          [request["state"], "success"], {"output": {"url": "late"}}).start()

      def submit(call, params):
          request = params["request"]
          last.update(state=request["state"], id=params["handoff_id"], title=request.get("title", ""),
                      asset=request["local_identifiers"][0])
          note("done", "%s %s %s" % (params["handoff_id"], request.get("attempt", 1), hashlib.sha256(request["state"].encode()).hexdigest()))
          send({"id": call, "result": {"accepted": True}})
          words = last["title"].split()
          if "now" in words: report(request["state"])
          if "late" in words: late(request)
          if "die" in words: os._exit(1)

      def knowledge(params, words):
          answer = {"handoff_id": params["handoff_id"], "standing": "unknown"}
          title = last.get("title", "")
          for word in title.split():
              if word.startswith(words + "="): answer["standing"] = word.split("=")[1]
          if answer["standing"] == "done":
              answer.update(standing="finished", result=result(params["state"], output={"url": "done"}))
          if answer["standing"] == "cancelled":
              answer.update(standing="finished", result=result(params["state"], "cancelled"))
          if answer["standing"] == "needs_user": answer["message"] = "sign in"
          return answer

      def remember():
          with open(os.path.join(work, "last"), "w") as f: json.dump(last, f)

      def commands():
          path = os.path.join(work, "commands")
          if not os.path.exists(path): os.mkfifo(path)
          while True:
              for line in open(path):
                  words = line.split()
                  if words[0] == "success": report(last["state"], output={"url": "told"})
                  if words[0] == "failure":
                      report(last["state"], "failure", error={"code": "network", "message": "no",
                                                              "effect": words[1], "retry": "later"})
                  if words[0] == "need": progress(needs_user=" ".join(words[1:]))
                  if words[0] == "progress": progress(fraction=0.5)
                  if words[0] == "flap":
                      for number in range(int(words[1])):
                          progress(needs_user="sign in")
                          progress(fraction=0.5)
                      note("flapped", "done")
                  if words[0] == "title": last["title"] = " ".join(words[1:])
                  if words[0] == "resolve": resolve(words[2] if len(words) > 2 else last["state"], words[1])
                  if words[0] == "token": note("token", last["state"])
                  if words[0] == "die": os._exit(1)
                  if words[0] == "title": remember(); note("titled", last["title"])

      note("heard", "started")
      try: last.update(json.load(open(os.path.join(work, "last"))))
      except FileNotFoundError: pass
      threading.Thread(target=commands, daemon=True).start()
      for message, method, call, params in messages():
          if method is None:
              if str(call).startswith("a "):
                  error = message.get("error", {}).get("data", {})
                  answer = message.get("result", {})
                  note("resolved", "%s %s %s" % (call.split()[1], error.get("code", "path"),
                                                 answer.get("path", error.get("remedy", ""))))
              continue
          note("heard", method)
          if method == "discover":
              describe(call, "outcomes", capabilities)
          elif method == "submit":
              submit(call, params)
              remember()
          elif method == "cancel" and "hang" in last.get("title", ""): pass
          elif method == "cancel" and "heard" in last.get("title", ""):
              send({"id": call, "result": {}})
          elif method == "cancel" and "error" in last.get("title", ""):
              send({"id": call, "error": {"code": -32000, "message": "no idea"}})
          elif method in ("probe", "cancel"):
              send({"id": call, "result": knowledge(params, method)})
          elif method == "reconcile":
              send({"id": call, "result": {"handoffs": [
                  knowledge({"handoff_id": h["handoff_id"], "state": h["request"]["state"]}, "probe")
                  for h in params["handoffs"]]}})
          else: send({"id": call, "result": {}})
      """
}

extension Scene {
  /// Imports a video of its own by hand, and returns its local identifier.
  func asset(_ number: UInt64) async throws -> String {
    let path = broker.root.appending("by hand \(number).mp4")
    try DurableFile.write(try await Scene.video(number), to: path)
    let asset = try await broker.json("import", path)
    return try #require((asset.elements.first ?? asset)["local_identifier"]?.text)
  }

  /// Sends an asset under a title, and returns the handoff's id.
  func send(_ asset: String, to destination: String, _ title: String, _ more: BytePath...)
    async throws -> BytePath
  {
    let words: [BytePath] = [
      "send", BytePath(asset), "--to", BytePath(destination), "--title", BytePath(title), "--again",
      "--json",
    ]
    let ended = try await broker.command(words + more)
    let sent = try WireCoder.decode(JSONValue.self, from: ended.output, limit: .max)
    return BytePath(try #require(sent.elements.first?["id"]?.text, "\(ended.errors)"))
  }

  /// Waits until a handoff has a status, and returns it.
  @discardableResult
  func wait(_ id: BytePath, until status: String) async throws -> JSONValue {
    try await broker.wait("show", id) { $0["status"]?.text == status }
  }
}
