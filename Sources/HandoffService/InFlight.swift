import HandoffCore
import HandoffProtocol
import Ledger
import Synchronization

/// One handoff that a running plugin holds.
final class InFlight: Sendable {
  /// Why a wait for the attempt's end is over.
  enum Waking: Sendable, Hashable {
    /// The attempt has ended, or the waiting task was cancelled.
    case ended
    /// No sign of life came for a time.
    case silent
    /// It is time to look into the ledger.
    case look
  }

  private struct State {
    var lastSign: ContinuousClock.Instant
    var hasEnded = false
    var isAnswered = false
    var userNeed: String?
    /// How often its receiver has told progress.
    var words = 0
    var hasNews = false
  }

  let claimed: ClaimedHandoff
  /// As it was sent, or is about to be.
  let request: HandoffRequest
  let assets: [GrantedAsset]
  /// The ledger ends it at this moment.
  let deadline: Timestamp
  private let state: Mutex<State>
  private let changed = WakeSignal()
  private let needChanged = WakeSignal()

  /// The ceiling is the moment that the submission's record has, or nearly.
  init(
    _ claimed: ClaimedHandoff,
    request: HandoffRequest,
    assets: [GrantedAsset],
    ceiling: Timestamp
  ) {
    self.claimed = claimed
    self.request = request
    self.assets = assets
    deadline = claimed.handoff.expiresAt.map { min($0, ceiling) } ?? ceiling
    state = Mutex(State(lastSign: .now))
  }

  var id: Handoff.ID { claimed.handoff.id }

  var attempt: Int { claimed.handoff.attempts }

  var reference: HandoffReference {
    HandoffReference(handoffID: id.description, state: claimed.request.state)
  }

  var parameters: SubmitParameters {
    SubmitParameters(handoffID: id.description, request: request)
  }

  var hasEnded: Bool { state.withLock(\.hasEnded) }

  /// The receiver has answered the request itself, so that it can be asked about it.
  var isAnswered: Bool { state.withLock(\.isAnswered) }

  func setAnswered() { state.withLock { $0.isAnswered = true } }

  /// What a person has to do before the receiver goes on; nil while it works.
  var userNeed: String? { state.withLock(\.userNeed) }

  /// How often its receiver has told progress; see ``learn(need:since:)``.
  var words: Int { state.withLock(\.words) }

  /// The receiver tells of progress, and whether it waits for a person, whose time is not the
  /// receiver's silence.
  func tell(need: String?) {
    let isNews = state.withLock { state in
      state.words += 1
      state.lastSign = .now
      guard state.userNeed != need else { return false }
      state.userNeed = need
      state.hasNews = true
      return true
    }
    changed.signal()
    if isNews { needChanged.signal() }
  }

  /// The receiver was asked and has answered whether it waits for a person.
  ///
  /// - Parameters:
  ///   - need: what it said.
  ///   - words: ``words`` when it was asked: what it has told since counts.
  func learn(need: String?, since words: Int) {
    state.withLock { state in
      if state.words == words { state.userNeed = need }
      state.lastSign = .now
      // The ledger has the answer, and perhaps not what was told since.
      state.hasNews = true
    }
    changed.signal()
    needChanged.signal()
  }

  /// Whether something is to be recorded about ``userNeed``; asked once, it is not any more.
  func takeNews() -> Bool {
    state.withLock { state in
      defer { state.hasNews = false }
      return state.hasNews
    }
  }

  /// It could not be recorded.
  func giveNewsBack() { state.withLock { $0.hasNews = true } }

  /// Waits for news of ``userNeed``.
  func waitForNews() async { await needChanged.wait() }

  /// The receiver is alive and at work.
  func giveSign() {
    state.withLock { $0.lastSign = .now }
    changed.signal()
  }

  /// The attempt is over, whatever came of it.
  func end() {
    state.withLock { $0.hasEnded = true }
    changed.signal()
  }

  /// Waits until the attempt has ended, no sign of life came for the idle time, or the limit is over.
  func wait(idle: Duration, atMost limit: Duration) async -> Waking {
    let start = ContinuousClock.now
    while true {
      let now = state.withLock { $0 }
      if now.hasEnded || Task.isCancelled { return .ended }
      let untilSilent = now.userNeed == nil ? idle - now.lastSign.duration(to: .now) : limit
      if untilSilent <= .zero { return .silent }
      let untilLook = limit - start.duration(to: .now)
      if untilLook <= .zero { return .look }
      await changed.wait(atMost: min(untilSilent, untilLook))
    }
  }
}

/// What one running plugin holds, found by token without comparing secrets with `==`.
final class InFlightTable: Sendable {
  private let entries = Mutex<[Handoff.ID: InFlight]>([:])

  func insert(_ entry: InFlight) {
    entries.withLock { $0[entry.id] = entry }
  }

  /// Removes this entry, never that of another attempt of the same handoff.
  func remove(_ entry: InFlight) {
    entries.withLock { entries in
      if entries[entry.id] === entry { entries[entry.id] = nil }
    }
  }

  func entry(_ id: Handoff.ID) -> InFlight? { entries.withLock { $0[id] } }

  func entry(of state: StateToken) -> InFlight? {
    entries.withLock { entries in
      entries.values.first { $0.claimed.request.state.matches(state) }
    }
  }
}
