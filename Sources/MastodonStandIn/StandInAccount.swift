import HandoffProtocol
import Synchronization

/// What the stand-in knows and does, apart from HTTP.
final class StandInAccount: Sendable {
  /// An answer; nil status means that the connection ends without one.
  struct Reply {
    var status: Int?
    var body: JSONValue
    var retryAfter: Int?
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
  }

  private struct Medium {
    var upload: ReceivedUpload
    var pollsLeft: Int
    var isAttached = false
  }

  private struct State {
    var port: UInt16 = 0
    var lastID = 109_000_000
    var media: [String: Medium] = [:]
    var uploads: [ReceivedUpload] = []
    var statuses: [PublishedStatus] = []
    var faults: [StandInStep: [StandInFault]] = [:]
    var onDone: @Sendable (StandInStep) -> Void = { _ in }
  }

  static let accountID = "1"
  private static let visibilities = ["public", "unlisted", "private", "direct"]

  let token: String
  private let processingPolls: Int
  private let honoursKeys: Bool
  private let state = Mutex(State())

  init(token: String, processingPolls: Int, honoursKeys: Bool) {
    self.token = token
    self.processingPolls = processingPolls
    self.honoursKeys = honoursKeys
  }

  var statuses: [PublishedStatus] { state.withLock { $0.statuses } }
  var uploads: [ReceivedUpload] { state.withLock { $0.uploads } }

  func listens(on port: UInt16) {
    state.withLock { $0.port = port }
  }

  func plan(_ faults: [StandInFault], for step: StandInStep) {
    state.withLock { $0.faults[step, default: []] += faults }
  }

  func onDone(_ call: @escaping @Sendable (StandInStep) -> Void) {
    state.withLock { $0.onDone = call }
  }

  /// A fresh number for an upload or a status.
  func nextID() -> String {
    state.withLock { state in
      state.lastID += 1
      return String(state.lastID)
    }
  }

  /// Does what is asked, or fails as planned.
  func answer(_ question: Question) -> Reply {
    let fault = state.withLock { state -> StandInFault in
      guard let next = state.faults[question.step]?.first else { return .pass }
      state.faults[question.step]?.removeFirst()
      return next
    }
    switch fault {
    case .refuse(let status, let retryAfter):
      var reply = Reply.error(status, "refused as planned")
      reply.retryAfter = retryAfter
      return reply
    case .dropBefore:
      return Reply(status: nil, body: .null)
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
      Reply(status: 200, body: .object(["id": .string(Self.accountID), "acct": .string("demo")]))
    case .list: list(question, state)
    }
  }

  private func upload(_ question: Question, _ state: inout State) -> Reply {
    guard let upload = question.upload, upload.size > 0 else {
      return .error(422, "Validation failed: File can't be blank")
    }
    guard upload.contentType.hasPrefix("video/") else {
      return .error(422, "Validation failed: File content type is invalid")
    }
    state.uploads.append(upload)
    state.media[upload.id] = Medium(upload: upload, pollsLeft: processingPolls)
    let isReady = processingPolls == 0
    return Reply(status: isReady ? 200 : 202, body: attachment(upload.id, isReady: isReady))
  }

  private func medium(_ id: String, _ state: inout State) -> Reply {
    guard let medium = state.media[id] else { return .error(404, "Record not found") }
    if medium.pollsLeft > 0 { state.media[id]?.pollsLeft -= 1 }
    let isReady = medium.pollsLeft == 0
    return Reply(status: isReady ? 200 : 206, body: attachment(id, isReady: isReady))
  }

  private func publish(_ question: Question, _ state: inout State) -> Reply {
    if honoursKeys, let key = question.key,
      let earlier = state.statuses.first(where: { $0.key == key })
    {
      return Reply(status: 200, body: document(earlier, state.port))
    }
    guard case .array(let list) = question.body["media_ids"] ?? .null, !list.isEmpty else {
      return .error(422, "Validation failed: nothing attached")
    }
    let ids = list.compactMap(\.text)
    for id in ids {
      guard let medium = state.media[id] else { return .error(422, "unknown media \(id)") }
      guard medium.pollsLeft == 0 else {
        return .error(422, "Cannot attach files that have not finished processing")
      }
      guard !medium.isAttached else { return .error(honoursKeys ? 422 : 400, "already attached") }
    }
    let visibility = question.body["visibility"]?.text ?? "public"
    guard Self.visibilities.contains(visibility) else {
      return .error(422, "Validation failed: Visibility is not included in the list")
    }
    for id in ids { state.media[id]?.isAttached = true }
    state.lastID += 1
    let status = PublishedStatus(
      id: String(state.lastID),
      text: question.body["status"]?.text ?? "",
      mediaIDs: ids,
      visibility: visibility,
      language: question.body["language"]?.text,
      key: question.key
    )
    state.statuses.append(status)
    return Reply(status: 200, body: document(status, state.port))
  }

  private func list(_ question: Question, _ state: State) -> Reply {
    guard question.subject == Self.accountID else { return .error(404, "Record not found") }
    let limit = question.olderThan.flatMap { Int($0) } ?? .max
    let older = state.statuses.filter { (Int($0.id) ?? 0) < limit }
    return Reply(
      status: 200,
      body: .array(older.suffix(40).reversed().map { document($0, state.port) })
    )
  }

  private func attachment(_ id: String, isReady: Bool) -> JSONValue {
    .object([
      "id": .string(id), "type": .string("video"),
      "url": isReady ? .string("https://files.invalid/\(id).mp4") : .null,
    ])
  }

  private func document(_ status: PublishedStatus, _ port: UInt16) -> JSONValue {
    .object([
      "id": .string(status.id),
      "url": .string("http://127.0.0.1:\(port)/@demo/\(status.id)"),
      "visibility": .string(status.visibility),
      "content": .string(status.text),
      "media_attachments": .array(status.mediaIDs.map { attachment($0, isReady: true) }),
    ])
  }
}
