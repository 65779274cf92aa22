import Glibc
import HandoffProtocol
import HandoffTestSupport
import LinuxSystem
import Paths

/// One walk that is stopped at one point, and the start after it.
struct CrashTrial: Sendable {
  /// What came of it: the point that was hit, if the walk has so many, and what is wrong.
  struct Outcome: Sendable {
    var hit: FaultSeam.Point?
    var passed = 0
    var complaints: [String] = []
    /// The broker has named the error that it met.
    var isTold = true
  }

  let walk: CrashWalk
  let plan: FaultSeam.Plan
  let root: BytePath
  /// The broker without a fault.
  let broker: RunningBroker
  /// The broker that is stopped at the point.
  let faulty: RunningBroker

  static func run(
    _ walk: CrashWalk,
    _ plan: FaultSeam.Plan,
    _ seam: FaultSeam
  ) async throws -> Outcome {
    // A kill leaves the kernel's view of the files as it is, so memory is as good as a disk here.
    let root = try makeTemporaryDirectory(inMemory: true)
    let trial = try CrashTrial(walk, plan, seam, root)
    var outcome = Outcome()
    do {
      try await trial.walkThrough(&outcome)
    } catch {
      outcome.complaints.append("\(error)")
    }
    await trial.faulty.end(SIGKILL)
    await trial.broker.end(SIGKILL)
    if outcome.complaints.isEmpty {
      removeTree(root)
    } else {
      outcome.complaints.append("kept in \(root)")
    }
    return outcome
  }

  private init(
    _ walk: CrashWalk,
    _ plan: FaultSeam.Plan,
    _ seam: FaultSeam,
    _ root: BytePath
  ) throws {
    self.walk = walk
    self.plan = plan
    self.root = root
    let text = walk.configuration(root)
    let words = ["/usr/bin/env"] + seam.environment(walk.program, plan, in: root)
    broker = try RunningBroker(root: root, configuration: text)
    faulty = try RunningBroker(
      root: root,
      configuration: text,
      prefix: words.map { BytePath($0) }
    )
    try Directory.create(root.appending("out"))
    try Directory.create(root.appending("inbox"))
    try DurableFile.write(
      Array("#!/bin/sh\n\(walk.script)\n".utf8),
      to: root.appending("script.sh"),
      permissions: 0o755
    )
  }

  /// The record of what a receiver did.
  func log(_ destination: String) -> BytePath { root.appending("out/\(destination).log") }

  // MARK: The walk

  private func walkThrough(_ outcome: inout Outcome) async throws {
    if walk.isArmedAtOnce {
      try await walk.act(self)
      try FaultSeam.arm(root)
    }
    let isReady = try await faulty.launch()
    if !walk.isArmedAtOnce {
      guard isReady else { throw TestSupportError("not ready: \(try faulty.tail())") }
      try await walk.prepare(self)
      try FaultSeam.arm(root)
      try await walk.act(self)
    }
    if case .fail = plan {
      try await outlive(&outcome)
    } else {
      try await dieOrEnd()
      (outcome.passed, outcome.hit) = try FaultSeam.points(in: root)
    }
    // What the walk did after its end is not what is tried.
    if case .kill(1...) = plan, outcome.hit == nil { return }
    try await broker.start()
    try await walk.resume(self)
    try await settle(videos: walk.videos.count)
    let end = await broker.end(SIGTERM)
    if end != .exited(0) { outcome.complaints.append("stopped with \(String(describing: end))") }
    outcome.complaints += try await CrashVerdict(trial: self).complaints()
  }

  /// Waits until the point was hit, or the walk is over and the broker was stopped.
  private func dieOrEnd() async throws {
    var looks = 0
    let isOver = try await poll(within: .seconds(30), every: .milliseconds(20)) { () -> Bool? in
      if try FaultSeam.points(in: root).hit != nil { return false }
      looks += 1
      guard looks % Self.looksPerQuestion == 0 else { return nil }
      return try await isSettled(videos: walk.videos.count) ? true : nil
    }
    switch isOver {
    case nil where walk.program == "handoff":
      throw TestSupportError("neither hit nor over: \(try faulty.tail())")
    case false where walk.program == "handoff":
      await faulty.end(SIGKILL)
    default:
      try await walk.resume(self)
      try await settle(videos: walk.videos.count, by: faulty)
      await faulty.end(SIGTERM)
    }
  }

  /// The seam's log is looked at often, the ledger, which costs a process, seldom.
  private static let looksPerQuestion = 8

  /// The errors pass, and the same broker goes on to the end.
  private func outlive(_ outcome: inout Outcome) async throws {
    do {
      try await weather()
      (outcome.passed, outcome.hit) = try FaultSeam.points(in: root)
      try await walk.resume(self)
      // A grant that could not be made is tried again after half a minute.
      try await settle(videos: walk.videos.count, by: faulty, within: .seconds(60))
    } catch {
      outcome.complaints.append("not without a restart: \(error)")
    }
    if let hit = outcome.hit, try !ErrorWords(plan).areSaid(in: faulty.wholeLog) {
      outcome.isTold = false
      let wasSeen = try await hasRetried()
      if wasSeen || !hit.mayBeInvisible {
        outcome.complaints.append("the error was not told")
      }
    }
    let end = await faulty.end(SIGTERM)
    if end != .exited(0) { outcome.complaints.append("ended with \(String(describing: end))") }
  }

  /// An attempt came to nothing that would not have without the error.
  private func hasRetried() async throws -> Bool {
    try await handoffs()?.contains { handoff in
      guard case .integer(let count) = handoff["attempts"] else { return false }
      return count > (handoff["destination"]?.text == "script" ? walk.attempts : 1)
    } ?? false
  }

  /// Errors that go on do so for a while, or until all is over; what waits between two tries waits longer
  /// each time.
  private func weather() async throws {
    _ = try await poll(within: .milliseconds(1500), every: .milliseconds(150)) {
      try await isSettled(videos: walk.videos.count) ? true : nil
    }
    try FaultSeam.calm(root)
  }

  // MARK: What walks are made of

  /// A file is exported: written under a temporary name and renamed.
  func export(_ number: UInt64, as name: BytePath = "clip.mp4") async throws {
    let scene = Scene(broker: broker)
    try scene.place(try await Scene.video(number), as: name)
  }

  /// Asks to cancel every handoff that is not over.
  ///
  /// A broker that is gone says so, and nothing else.
  func cancelAll() async throws {
    for handoff in try await handoffs() ?? [] {
      guard let id = handoff["id"]?.text, handoff["finished_at"]?.text == nil else { continue }
      let ended = try await broker.command(["cancel", BytePath(id)])
      guard [0, 1, 4, 5, 75].contains(ended.code) else {
        throw TestSupportError("cancel: \(ended.code) \(ended.errors)")
      }
    }
  }

  func `await`(_ isRight: ([JSONValue]) -> Bool) async throws {
    let found = try await poll(within: .seconds(20)) { () -> Bool? in
      guard let handoffs = try await handoffs() else { return nil }
      return isRight(handoffs) ? true : nil
    }
    if found == nil { throw TestSupportError("in vain: \(try broker.tail())") }
  }

  /// Waits until every handoff of so many assets has an end.
  func settle(
    videos: Int,
    by who: RunningBroker? = nil,
    within limit: Duration = .seconds(20)
  ) async throws {
    let found = try await poll(within: limit, every: .milliseconds(100)) {
      try await isSettled(videos: videos) ? true : nil
    }
    if found != nil { return }
    let statuses = try await handoffs()?.map {
      "\($0["destination"]?.text ?? "") \($0["status"]?.text ?? "") \($0["waiting"] ?? .null)"
    }
    let log = try (who ?? broker).tail()
    throw TestSupportError("stuck: \(String(describing: statuses)); \(log)")
  }

  private func isSettled(videos: Int) async throws -> Bool {
    // After a restart an original is looked at when its quiet time is over.
    let original = broker.exports.appending("clip.mp4")
    guard try walk.keepsOriginal || FileStatus.of(original) == nil,
      let handoffs = try await handoffs()
    else { return false }
    return handoffs.count == videos * walk.destinations.count
      && handoffs.allSatisfy { handoff in
        let status = handoff["status"]?.text ?? ""
        return status == "succeeded"
          || (handoff["destination"]?.text == "script" && walk.ends.contains(status))
      }
  }

  /// What the ledger says of all handoffs; nil where it could not be read just now.
  func handoffs() async throws -> [JSONValue]? {
    let ended = try await broker.command(["handoffs", "--json"])
    guard ended.code == 0 else { return nil }
    return try WireCoder.decode(JSONValue.self, from: ended.output, limit: .max).elements
  }
}
