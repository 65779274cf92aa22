import Glibc
import HandoffLog
import HandoffProtocol
import HandoffTestSupport
import LinuxSystem
import Paths
import Testing

/// What lasting faults write into the log.
@Suite("Cases: the log")
struct LogCases {
  @Test(
    "Case 100: a lasting fault is told at once, its repeats by a count, and its end once",
    .timeLimit(.minutes(3))
  )
  func told() async throws {
    guard geteuid() == 0 else {
      print("skipped, only root can start a broker of another user: Case 100")
      return
    }
    guard await Mounts.areAllowed(for: "Case 100") else { return }
    let nobody: [BytePath] = [
      "/usr/bin/setpriv", "--reuid=65534", "--regid=65534", "--clear-groups",
    ]
    try await Scene.run("", starting: false, prefix: nobody) { scene in
      try DurableFile.write(
        Array(Self.configuration(scene).utf8),
        to: scene.broker.config,
        permissions: 0o644
      )
      try await Mounts.run(scene, [("-t tmpfs -o size=6m tmpfs", "small")]) {
        for number in 0..<3 {
          try scene.write(try await Scene.video(UInt64(number)), to: BytePath("\(number).mp4"))
        }
        try scene.write(try await Scene.video(9), to: "locked.mp4")
        try await scene.sh(
          """
          mkdir out; dd if=/dev/zero of=small/fill bs=1k count=4000 2> /dev/null
          chmod 755 .; chown -R 65534:65534 .; chmod 000 exports/locked.mp4
          """
        )
        try await scene.broker.start()
        for sentence in Self.begins { try await Self.wait(for: sentence, in: scene) }
        // Three exports that meet the full disk again and again are one fault.
        try await Self.wait(for: "count=", in: scene)
        try await scene.sh(
          """
          rm small/fill; chmod 644 exports/locked.mp4
          mkdir missing; chown 65534:65534 missing
          """
        )
        for sentence in Self.ends { try await Self.wait(for: sentence, in: scene) }
        for name in ["0.mp4", "1.mp4", "2.mp4", "locked.mp4"] as [BytePath] {
          try await scene.untilImported(name)
        }
        try Self.judge(scene)
      }
    }
  }

  private static let begins = [
    "a drop folder is not there", "A plugin ended", "status=unreadable", "status=no_space",
  ]
  private static let ends = [
    "a drop folder is there again", "A plugin is up again", "An export can be read now",
    "There is room again",
  ]

  private static func wait(for sentence: String, in scene: Scene) async throws {
    let found = try await poll(within: .seconds(60), every: .milliseconds(100)) {
      try scene.broker.wholeLog.contains(sentence) ? true : nil
    }
    let log = try scene.broker.tail()
    try #require(found == true, "\(sentence): \(log)")
  }

  private static func judge(_ scene: Scene) throws {
    let lines = try scene.broker.wholeLog.split(separator: "\n")
    for end in ends { #expect(lines.count { $0.contains(end) } == 1, "\(end)") }
    #expect(lines.count { $0.contains("a drop folder is not there") } == 1)
    // Three lives of the plugin ended: said at once, or counted.
    let ended = lines.filter { $0.contains("A plugin ended") || $0.contains("A plugin is up") }
    #expect(ended.map(count).reduce(0, +) == 3 + 1, "\(ended)")
  }

  /// How many records a line stands for; one that ends a fault stands for those before it, too.
  private static func count(_ line: Substring) -> Int {
    let words = line.split(separator: " ")
    let counted = words.first { $0.hasPrefix("count=") }.flatMap { Int($0.dropFirst(6)) }
    let isEnd = line.contains("is up again")
    return isEnd ? (counted ?? 0) + 1 : counted ?? 1
  }

  private static func configuration(_ scene: Scene) -> String {
    let root = scene.broker.root
    let receiver = RunningBroker.program.parent.appending("counting-receiver")
    // Fails three times; a fifth failure in a row would be given a longer rest.
    let script = """
      n=$(cat out/lives 2> /dev/null || echo 0); echo $((n + 1)) > out/lives
      [ $n -ge 3 ] && exec \(receiver); exit 3
      """
    let line = script.split(separator: "\n").joined(separator: "; ")
    return """
      [broker]
      state = "state"
      listen = ""

      [library]
      path = "small/library"
      reserve = "50%"

      [[drop_folder]]
      path = "exports"
      quiet = "100ms"

      [[drop_folder]]
      path = "missing"
      quiet = "100ms"

      [destination.broken]
      transport = "plugin"
      command = ["/bin/sh", "-c", "cd \(root); \(line)"]
      containment = "none"
      [destination.broken.settings]
      log = "\(root.appending("out/broken.log"))"
      """
  }

  // MARK: A day

  /// One fault, and the moments of a day at which it is met.
  struct Fault: Sendable, CustomTestStringConvertible {
    let name: String
    let record: LogRecord
    let moments: [Duration]

    var testDescription: String { name }
  }

  private static let day: Duration = .seconds(86_400)

  @Test("Case 100: a day of each fault writes less than a megabyte", arguments: faults)
  func day(_ fault: Fault) {
    let merger = RepeatMerger()
    var lines: [(at: Duration, record: LogRecord)] = []
    for moment in fault.moments {
      lines += merger.take(fault.record, at: moment).map { (moment, $0) }
    }
    lines += merger.rest().map { (Self.day, $0) }
    let bytes = lines.map { LineFormat.line($0.record, time: "2026-12-01T02:23:14.257Z") }
      .map { $0.utf8.count + 1 }.reduce(0, +)
    print(
      "Case 100, \(fault.name): \(fault.moments.count) times, \(lines.count) lines, \(bytes) bytes"
    )
    #expect(bytes < 1_000_000)
    #expect(lines.first?.at == fault.moments.first)
    let told = lines.map { $0.record.fields[.count].flatMap { Int($0) } ?? 1 }.reduce(0, +)
    #expect(told == fault.moments.count, "repeats are lost")
    let gaps = Array(zip(lines, lines.dropFirst()).map { $1.at - $0.at }.dropLast())
    let least = gaps.indices.map {
      RepeatMerger.intervals[min($0, RepeatMerger.intervals.count - 1)]
    }
    #expect(zip(gaps, least).allSatisfy { $0 >= $1 }, "\(gaps)")
  }

  @Test("Case 100: the end of a fault is told once, and only of one that was told")
  func ends() {
    let merger = RepeatMerger()
    var fault = LogRecord(.warning, "no", [.path: "/a"])
    fault.cause = "a"
    var end = LogRecord(.notice, "yes")
    end.ends = "a"
    #expect(merger.take(end, at: .zero) == [])
    #expect(merger.take(fault, at: .seconds(1)) == [fault])
    #expect(merger.take(fault, at: .milliseconds(1500)) == [])
    let told = merger.take(end, at: .seconds(2))
    #expect(told.map(\.message) == ["yes"])
    #expect(told.first?.fields[.count] == "1")
    #expect(merger.take(end, at: .seconds(3)) == [])
  }

  @Test("Case 100: what is about something else is another fault; transitions are never merged")
  func apart() {
    let merger = RepeatMerger()
    let first = LogRecord(.warning, "no", [.path: "/a", .error: "12 bytes of 123456"])
    let other = LogRecord(.warning, "no", [.path: "/a", .error: "13 bytes of 123456"])
    let same = LogRecord(.warning, "no", [.path: "/a", .error: "12 bytes of 654321"])
    let notice = LogRecord(.notice, "Imported", [.path: "/a"])
    #expect(merger.take(first, at: .zero) == [first])
    #expect(merger.take(other, at: .zero) == [other])
    #expect(merger.take(same, at: .zero) == [])
    #expect(merger.take(notice, at: .zero) == [notice])
    #expect(merger.take(notice, at: .zero) == [notice])
  }

  private static let faults: [Fault] = [
    Fault(
      name: "a file that nobody may read",
      record: LogRecord(
        .warning,
        "An export cannot be taken",
        [.exportPath: "/srv/exports/" + String(repeating: "a long name ", count: 10)]
      ),
      moments: every(.seconds(60))
    ),
    Fault(
      name: "a missing drop folder",
      record: LogRecord(.warning, "a drop folder is not there", [.folder: "/srv/exports"]),
      moments: every(.seconds(5))
    ),
    Fault(
      name: "a plugin that cannot start",
      record: LogRecord(.warning, "A plugin ended", [.destination: "a", .reason: "exit code 3"]),
      moments: restarts
    ),
    Fault(
      name: "a full disk, and ten exports that wait",
      record: LogRecord(
        .warning,
        "An export cannot be taken",
        [.exportPath: "/srv/exports/clip.mp4", .reason: "no space: 1081344 bytes are free"]
      ),
      moments: every(.seconds(6))
    ),
  ]

  private static func every(_ interval: Duration) -> [Duration] {
    Array(sequence(first: Duration.zero) { $0 + interval < day ? $0 + interval : nil })
  }

  /// When a plugin that never starts ends: its circuit is open for five minutes after the fifth time.
  private static var restarts: [Duration] {
    [.zero, .milliseconds(500), .milliseconds(1500), .milliseconds(3500)]
      + every(.seconds(300)).map { $0 + .milliseconds(7500) }
  }
}
