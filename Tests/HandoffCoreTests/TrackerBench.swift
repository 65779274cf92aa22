import HandoffCore
import HandoffProtocol
import Paths

/// A tracker of one folder with a clock that the test sets.
struct TrackerBench {
  static let folder: BytePath = "/drop"
  var tracker: SettleTracker
  var now: Duration = .zero

  /// The closure changes more of the folder's rules.
  init(
    quiet: Duration = .seconds(1),
    giveUp: Duration = .seconds(600),
    ignore: [String] = [],
    _ change: (inout SettleTracker.Rules) -> Void = { _ in }
  ) {
    var rules = SettleTracker.Rules(
      quiet: quiet,
      quietPoll: .seconds(60),
      giveUp: giveUp,
      ignore: ignore.map { ShellPattern($0) }
    )
    change(&rules)
    tracker = SettleTracker(folders: [(path: Self.folder, rules: rules)])
  }

  /// With settings as a configuration has them, and a quiet period of one second.
  init(_ configure: (inout DropFolderSettings) -> Void) {
    var settings = DropFolderSettings(path: Self.folder)
    configure(&settings)
    tracker = SettleTracker(folders: [(path: Self.folder, rules: .init(settings))])
  }

  var moment: SettleTracker.Moment {
    SettleTracker.Moment(
      elapsed: now,
      time: Timestamp(milliseconds: 1_700_000_000_000).advanced(by: now)
    )
  }

  static func path(_ name: String) -> BytePath { folder.appending(name) }

  static func identity(_ version: Int64, inode: UInt64 = 1) -> FileIdentity {
    FileIdentity(device: 1, inode: inode, size: version, modified: version, changed: version)
  }

  static func verdict(_ judgement: ProbeVerdict.Judgement) -> ProbeVerdict {
    let passed = judgement == .complete || judgement == .notProvable
    return ProbeVerdict(
      judgement,
      evidence: [Evidence(.structure, passed: passed, passed ? "whole" : "no index")]
    )
  }

  mutating func observe(_ name: String, _ observation: CandidateObservation, round: UInt32 = 1) {
    tracker.observe(Self.path(name), in: 0, observation, round: round, at: moment)
  }

  /// The names that are due now.
  mutating func due() -> [String] {
    tracker.due(at: moment, limit: .max).map { $0.path.lastComponent.lossyText }
  }

  mutating func examined(_ name: String, _ finding: CandidateFinding) -> CandidateStep {
    tracker.examined(Self.path(name), finding, at: moment)
  }

  mutating func judged(
    _ name: String,
    _ judgement: ProbeVerdict.Judgement,
    version: Int64 = 1,
    proof: CandidateFinding.WriterProof = .lease,
    beside: ProofFinding = .notAsked
  ) -> CandidateStep {
    examined(name, .judged(Self.verdict(judgement), Self.identity(version), proof, beside))
  }

  /// Goes on to the next moment at which something is due, and gives the names that are.
  mutating func dueNext() -> [String] {
    while let next = tracker.nextDue {
      now = max(now, next)
      let names = due()
      if !names.isEmpty { return names }
    }
    return []
  }

  mutating func imported(_ name: String, _ outcome: ImportOutcome) {
    tracker.imported(Self.path(name), outcome, at: moment)
  }

  func report(_ name: String) -> CandidateReport? {
    tracker.report(for: Self.path(name))
  }

  func state(_ name: String) -> CandidateState? {
    tracker.report(for: Self.path(name))?.state
  }

  static let identifier = LocalIdentifier("69D53A4B-8F24-8D7A-9C1E-3A5B7C9D0E1F")
}
