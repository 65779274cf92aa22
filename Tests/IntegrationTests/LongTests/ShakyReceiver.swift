import Glibc
import LinuxSystem
import Paths

/// A plugin in Python that fails at random in every way, and writes down what it did and what became of
/// each handoff.
struct ShakyReceiver {
  let scene: Scene
  let seed: UInt64
  /// It dies by itself only after so many seconds, and not after so many lives: who dies young again and
  /// again is given up for a while.
  let age: Int
  let lives: Int

  /// Its part of the configuration; writes the program.
  func configuration() throws -> String {
    let program = scene.broker.root.appending("shaky.py")
    try DurableFile.write(Array(Self.program.utf8), to: program, permissions: 0o755)
    return """

      [destination.shaky]
      transport = "plugin"
      command = ["python3", "\(program)", "\(seed)", "\(age)", "\(lives)"]
      containment = "none"
      concurrency = 4
      idle = "2s"
      retry = { for = "20s", first = "500ms", max = "2s" }

      """
  }

  /// The ids of the handoffs whose work it did, once for each time.
  var done: [String] {
    get throws { try words("done") }
  }

  /// The ways in which it has failed, one word for each time.
  var failures: [String] {
    get throws { try words("failures") }
  }

  private func words(_ name: String) throws -> [String] {
    let path = scene.broker.root.appending("state/work/shaky").appending(name)
    guard try FileStatus.of(path) != nil else { return [] }
    let bytes = try FileDescriptor.open(path, O_RDONLY).readAll(limit: 1 << 26)
    return String(decoding: bytes, as: UTF8.self).split(separator: "\n").map(String.init)
  }

  private static let program =
    PythonPlugin.wire + """
      import random, sys, time

      # Each of its lives goes another way.
      with open(os.path.join(work, "lives"), "a") as file: file.write("+")
      lives = os.path.getsize(os.path.join(work, "lives"))
      dice = random.Random(int(sys.argv[1]) * 100003 + lives)
      born = time.monotonic()

      def note(name, line):
          with open(os.path.join(work, name), "a") as file: file.write(line + "\\n")

      def have_done(handoff):
          try:
              with open(os.path.join(work, "done")) as file: return handoff + "\\n" in file.readlines()
          except FileNotFoundError: return False

      def result(state, kind="success", **more):
          return dict({"protocol_version": 3, "state": state, "result": kind}, **more)

      def report(document):
          send({"id": "r %d" % dice.getrandbits(40), "method": "handoff.result", "params": document})

      def fail(state, effect):
          report(result(state, "failure", error={"code": "network", "message": "by chance",
                                                 "effect": effect, "retry": "later"}))

      def submit(call, params):
          state, handoff = params["request"]["state"], params["handoff_id"]
          way = dice.choices(
              ["good", "none", "unknown", "malformed", "cancelled", "hang", "hang_after", "refuse",
               "die", "die_after", "garbage"],
              [70, 8, 3, 3, 3, 2, 2, 3, 2, 2, 2])[0]
          if way in ("die", "die_after", "garbage"):
              old = time.monotonic() - born >= int(sys.argv[2])
              if not old or lives > int(sys.argv[3]): way = "good"
          if way != "good": note("failures", way)
          if way == "die": os._exit(1)
          if way == "garbage":
              out.write("{ this is no message\\n")
              out.flush()
          if way == "refuse":
              return send({"id": call, "result": {"accepted": False, "error": {
                  "code": "unsupported_media", "message": "by chance", "effect": "none", "retry": "never"}}})
          send({"id": call, "result": {"accepted": True}})
          if way in ("good", "die_after", "hang_after"): note("done", handoff)
          if way == "die_after": os._exit(1)
          if way == "good": report(result(state, output={"id": handoff}))
          if way in ("none", "unknown"): fail(state, way)
          if way == "malformed": report(result(state, "splendid"))
          if way == "cancelled": report(result(state, "cancelled"))

      def knowledge(handoff, state):
          if have_done(handoff):
              return {"handoff_id": handoff, "standing": "finished", "result": result(state)}
          return {"handoff_id": handoff, "standing": "unknown"}

      for message, method, call, params in messages():
          if method is None: continue
          if method == "discover":
              describe(call, "shaky", ["probe", "reconcile"])
          elif method == "submit": submit(call, params)
          elif method == "probe": send({"id": call, "result": knowledge(params["handoff_id"], params["state"])})
          elif method == "reconcile":
              send({"id": call, "result": {"handoffs": [
                  knowledge(h["handoff_id"], h["request"]["state"]) for h in params["handoffs"]]}})
          else: send({"id": call, "result": {}})
      """
}
