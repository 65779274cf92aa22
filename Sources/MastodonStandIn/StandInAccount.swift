import Glibc
import HandoffProtocol
import Synchronization

/// What the stand-in knows and does, apart from HTTP.
final class StandInAccount: Sendable {
  /// An answer; nil status means that the connection ends without one.
  struct Reply {
    var status: Int?
    var body: JSONValue
    var headers: [(String, String)] = []
    var isGarbled = false

    static func error(_ status: Int, _ message: String) -> Reply {
      Reply(status: status, body: .object(["error": .string(message)]))
    }
  }

  /// A request without its HTTP.
  struct Question {
    var step: StandInStep
    /// The part of the path that names a medium or an account.
    var subject = ""
    var upload: ReceivedUpload?
    var body: JSONValue = .null
    var key: String?
    var olderThan: String?
    var limit = 20
  }

  struct Medium {
    var upload: ReceivedUpload
    var pollsLeft: Int
    var isAttached = false
  }

  struct State {
    var port: UInt16 = 0
    var lastID = 109_000_000
    var media: [String: Medium] = [:]
    var uploads: [ReceivedUpload] = []
    var statuses: [PublishedStatus] = []
    var scheduled: [ScheduledPost] = []
    var counts: [StandInStep: Int] = [:]
    var faults: [StandInStep: [StandInFault]] = [:]
    /// Publications that are still worked on, and when they are done.
    var late: [(question: Question, due: ContinuousClock.Instant)] = []
    var accountID = "1"
    /// How many statuses are those of the account before.
    var formerStatuses = 0
    var onDone: @Sendable (StandInStep) -> Void = { _ in }

    mutating func nextID() -> String {
      lastID += 1
      return String(lastID)
    }
  }

  let token: String
  let rules: StandInRules
  private let state = Mutex(State())

  init(token: String, rules: StandInRules) {
    self.token = token
    self.rules = rules
  }

  var statuses: [PublishedStatus] {
    state.withLock { state in
      doLate(&state)
      return state.statuses
    }
  }
  var uploads: [ReceivedUpload] { state.withLock { $0.uploads } }
  var scheduled: [ScheduledPost] { state.withLock { $0.scheduled } }

  func listens(on port: UInt16) {
    state.withLock { $0.port = port }
  }

  func plan(_ faults: [StandInFault], for step: StandInStep) {
    state.withLock { $0.faults[step, default: []] += faults }
  }

  func onDone(_ call: @escaping @Sendable (StandInStep) -> Void) {
    state.withLock { $0.onDone = call }
  }

  func count(_ step: StandInStep) -> Int { state.withLock { $0.counts[step] ?? 0 } }

  func publishScheduled() {
    state.withLock { state in
      state.statuses += state.scheduled.map(\.status)
      state.scheduled = []
    }
  }

  func deleteScheduled() {
    state.withLock { state in
      for id in state.scheduled.flatMap(\.status.mediaIDs) { state.media[id]?.isAttached = false }
      state.scheduled = []
    }
  }

  func changeAccount() {
    state.withLock { state in
      state.accountID = "2"
      state.formerStatuses = state.statuses.count
      state.media = [:]
    }
  }

  func forgetUploads() {
    state.withLock { state in state.media = state.media.filter { $0.value.isAttached } }
  }

  /// A fresh number for an upload or a status.
  func nextID() -> String { state.withLock { $0.nextID() } }

  /// Why a request is not even read.
  func refusal(_ step: StandInStep, bearing token: String?) -> Reply? {
    guard token == self.token else { return .error(401, "The access token is invalid") }
    guard let scope = step.scope, !rules.allow(scope) else { return nil }
    return .error(403, "This action is outside the authorized scopes")
  }

  /// Does what is asked, or fails as planned.
  func answer(_ question: Question) -> Reply {
    let fault = state.withLock { state -> StandInFault in
      doLate(&state)
      state.counts[question.step, default: 0] += 1
      guard let next = state.faults[question.step]?.first else { return .pass }
      state.faults[question.step]?.removeFirst()
      return next
    }
    switch fault {
    case .refuse(let status, let retryAfter):
      var reply = Reply.error(status, "refused as planned")
      if let retryAfter { reply.headers = [("Retry-After", String(retryAfter))] }
      return reply
    case .rateLimit(let seconds):
      var reply = Reply.error(429, "Too many requests")
      let reset = Self.now().advanced(by: .seconds(seconds))
      reply.headers = [("X-RateLimit-Remaining", "0"), ("X-RateLimit-Reset", reset.rfc3339)]
      return reply
    case .dropBefore:
      return Reply(status: nil, body: .null)
    case .doLate(let delay):
      state.withLock { $0.late.append((question, .now + delay)) }
      state.withLock { $0.onDone }(question.step)
      return Reply(status: nil, body: .null)
    case .echo(let status):
      return .error(status, "no such token: \(token)")
    case .dropAfter, .garble, .pass:
      var reply = state.withLock { answer(question, &$0) }
      state.withLock { $0.onDone }(question.step)
      if fault == .dropAfter { reply.status = nil }
      reply.isGarbled = fault == .garble
      return reply
    }
  }

  private func answer(_ question: Question, _ state: inout State) -> Reply {
    switch question.step {
    case .upload: upload(question, &state)
    case .media: medium(question.subject, &state)
    case .publish: publish(question, &state)
    case .account:
      Reply(status: 200, body: .object(["id": .string(state.accountID), "acct": .string("demo")]))
    case .list: list(question, state)
    case .scheduled: scheduled(question.subject, state)
    case .scheduledList: scheduledList(question, state)
    case .instance: instance(question.subject)
    case .application:
      Reply(
        status: 200,
        body: .object([
          "name": .string("handoff"), "scopes": .array(rules.scopes.sorted().map { .string($0) }),
        ])
      )
    }
  }

  static func now() -> Timestamp {
    var time = timespec()
    // CLOCK_REALTIME always exists, so the call cannot fail.
    clock_gettime(CLOCK_REALTIME, &time)
    return Timestamp(milliseconds: Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000)
  }
}
