import Glibc
import HandoffProtocol
import HandoffTestSupport
import LinuxSystem
import Paths
import SQLite
import Testing

/// Hundreds of exports at once.
@Suite("Cases: crowds")
struct CrowdCases {
  private static let files = 500
  private static let concurrency = (plugin: 25, copies: 4)

  @Test(
    "Case 55: five hundred exports at once never start more than each destination may",
    .timeLimit(.minutes(4))
  )
  func crowd() async throws {
    try await Scene.run("", starting: false) { scene in
      try await Self.prepare(scene)
      try await scene.broker.start()
      let pid = try #require(scene.broker.processID)
      let before = try BrokerVitals(of: pid)
      let clock = ContinuousClock()
      let took = try await clock.measure {
        for number in 0..<Self.files {
          try scene.write(try await Scene.video(UInt64(number)), to: BytePath("\(number).mp4"))
        }
      }
      var most = (memory: 0, descriptors: 0, children: 0)
      let ended = try await poll(within: .seconds(150), every: .milliseconds(100)) { () -> Bool? in
        let now = try BrokerVitals(of: pid)
        most.memory = max(most.memory, now.memory)
        most.descriptors = max(most.descriptors, now.descriptors)
        most.children = max(most.children, now.children.count)
        return try Self.succeeded(scene) == 2 * Self.files ? true : nil
      }
      let (log, done) = (try scene.broker.tail(), try Self.succeeded(scene))
      try #require(ended == true, "\(done) have succeeded: \(log)")
      let running = (
        plugin: try Self.most("state/work/plugin/running", scene),
        copies: try Self.most("out/running", scene)
      )
      print(
        """
        Case 55: \(Self.files) files written in \(took); at most \(running.plugin) at work in the \
        plugin of \(Self.concurrency.plugin), \(running.copies) copies of \
        \(Self.concurrency.copies); before: \(before); most: \(most.memory >> 20) MiB, \
        \(most.descriptors) descriptors, \(most.children) children
        """
      )
      #expect((1...Self.concurrency.plugin).contains(running.plugin))
      #expect((1...Self.concurrency.copies).contains(running.copies))
      // In total: what each destination may have, and the probes.
      #expect(most.children <= before.children.count + Self.concurrency.copies + 4)
      #expect(most.descriptors <= before.descriptors + 80)
      #expect(most.memory <= before.memory + (96 << 20))
      for destination in ["plugin", "copies"] {
        let order = try Self.order(destination, scene)
        #expect(order.count == Self.files)
        #expect(order == order.sorted(), "\(destination) was not served by arrival")
      }
    }
  }

  private static func prepare(_ scene: Scene) async throws {
    let root = scene.broker.root
    try Directory.create(root.appending("out/now"))
    let script = try scene.script("copy", copying)
    try DurableFile.write(Array(plugin.utf8), to: root.appending("plugin.py"), permissions: 0o755)
    let text = Scene.configuration(
      handoff: ["plugin", "copies"],
      destinations: """
        [destination.plugin]
        transport = "plugin"
        command = ["python3", "\(root.appending("plugin.py"))"]
        containment = "none"
        concurrency = \(concurrency.plugin)

        [destination.copies]
        transport = "exec"
        command = ["\(script)", "\(root.appending("out"))"]
        containment = "none"
        concurrency = \(concurrency.copies)
        """
    )
    try DurableFile.write(Array(text.utf8), to: scene.broker.config)
  }

  private static func succeeded(_ scene: Scene) throws -> Int {
    let ledger = try Connection(
      scene.broker.root.appending("state/ledger.db"),
      .read,
      busyTimeout: .seconds(20)
    )
    return Int(try ledger.first(countSucceeded) { try $0.integer(0) } ?? 0)
  }

  /// The handoffs of a destination in the order in which they were submitted.
  private static func order(_ destination: String, _ scene: Scene) throws -> [Int64] {
    let ledger = try Connection(
      scene.broker.root.appending("state/ledger.db"),
      .read,
      busyTimeout: .seconds(20)
    )
    return try ledger.rows(submissions, [.text(destination)]) { try $0.integer(0) }
  }

  /// The largest number of a file that has one a line.
  private static func most(_ path: BytePath, _ scene: Scene) throws -> Int {
    let file = try FileDescriptor.open(scene.broker.root.appending(path), O_RDONLY)
    let text = String(decoding: try file.readAll(limit: 1 << 20), as: UTF8.self)
    return text.split(whereSeparator: { $0.isWhitespace }).compactMap { Int($0) }.max() ?? 0
  }

  private static let countSucceeded = SQL(
    "SELECT count(*) FROM handoffs WHERE status = 'succeeded'"
  )
  /// By claim: who is claimed together is submitted together, on several threads.
  private static let submissions = SQL(
    """
    SELECT handoff FROM events WHERE to_status = 'leased'
      AND handoff IN (SELECT id FROM handoffs WHERE destination = ?1) ORDER BY seq
    """
  )

  /// Notes how many copies of it run.
  private static let copying = """
    : > "$1/now/$$"
    ls "$1/now" | wc -l >> "$1/running"
    rm "$1/now/$$"
    """

  /// Takes a second for each handoff, and notes how many it is at work on.
  private static let plugin =
    PythonPlugin.wire + """
      log = open(os.path.join(work, "running"), "a", buffering=1)
      running = 0

      def finish(state):
          global running
          with lock: running -= 1
          send({"id": "r %d" % next(numbers), "method": "handoff.result",
                "params": {"protocol_version": 3, "state": state, "result": "success"}})

      for message, method, call, params in messages():
          if method is None: continue
          if method == "discover":
              describe(call, "crowd", [])
          elif method == "submit":
              with lock:
                  running += 1
                  log.write("%d\\n" % running)
              send({"id": call, "result": {"accepted": True}})
              threading.Timer(1, finish, [params["request"]["state"]]).start()
          else: send({"id": call, "result": {}})
      """
}
