import HandoffPluginKit
import HandoffProtocol

/// How far a publication has come, as it is recorded before the next step.
enum PublicationStage: Sendable {
  /// The service has a part of the bytes, or a place for them; nothing can be seen.
  case uploading(kept: JSONValue)
  /// The service has the bytes; nothing can be seen.
  case uploaded(JSONValue)
  /// It may have been published, first at this moment.
  case publishing(JSONValue, since: Timestamp)
  /// The service has taken it and will publish it.
  case pending(JSONValue, pending: JSONValue, since: Timestamp)

  var name: String {
    switch self {
    case .uploading: "uploading"
    case .uploaded: "uploaded"
    case .publishing: "publishing"
    case .pending: "pending"
    }
  }

  /// It can be that something is to be seen at the service.
  var mayBePublished: Bool {
    switch self {
    case .uploading, .uploaded: false
    case .publishing, .pending: true
    }
  }

  /// What is recorded with the name, besides the place.
  private var members: [String: JSONValue] {
    switch self {
    case .uploading(let kept): ["kept": kept]
    case .uploaded(let prepared): ["prepared": prepared]
    case .publishing(let prepared, let since):
      ["prepared": prepared, "at": .string(since.rfc3339)]
    case .pending(let prepared, let pending, let since):
      ["prepared": prepared, "pending": pending, "at": .string(since.rfc3339)]
    }
  }

  /// The document that is recorded: the step, and at which service it was taken.
  func data(at place: PublicationPlace) -> JSONValue {
    .object(members.merging(place.members) { $1 })
  }

  /// Reads what was recorded.
  ///
  /// - Returns: nil for nothing, and for what another service has of it and nobody sees.
  /// - Throws: with effect `unknown`, where something may be published that this settings cannot look for.
  init?(_ recorded: RecordedStage?, at place: PublicationPlace) throws(ResultError) {
    guard let recorded else { return nil }
    guard let stage = Self(recorded) else {
      throw Self.lost("the recorded step “\(recorded.name)” cannot be read")
    }
    guard place.isThat(of: recorded.data) else {
      guard !stage.mayBePublished else {
        throw Self.lost("it may have been published elsewhere, before the settings were changed")
      }
      return nil
    }
    self = stage
  }

  private init?(_ recorded: RecordedStage) {
    let data = recorded.data
    // Written by 1.0, which knew Mastodon alone.
    let former = data["media_id"].map { JSONValue.object(["media_id": $0]) }
    let since = data["at"]?.text.flatMap { Timestamp(rfc3339: $0) } ?? recorded.at
    switch (recorded.name, data["prepared"] ?? former) {
    case ("uploading", _): self = .uploading(kept: data["kept"] ?? .null)
    case ("uploaded", let prepared?): self = .uploaded(prepared)
    case ("publishing", let prepared?), ("posting", let prepared?):
      self = .publishing(prepared, since: since)
    case ("pending", let prepared?):
      self = .pending(prepared, pending: data["pending"] ?? .null, since: since)
    default: return nil
    }
  }

  private static func lost(_ message: String) -> ResultError {
    ResultError(
      .interrupted,
      message,
      effect: .unknown,
      remedy: "Look at the service; then adopt what is there, or send it anew."
    )
  }
}

/// Where something was uploaded or published: steps taken there mean nothing elsewhere.
struct PublicationPlace: Hashable, Sendable {
  let platform: String
  let server: String

  var members: [String: JSONValue] {
    ["platform": .string(platform), "server": .string(server)]
  }

  /// What names no place was written by 1.0, and is this one's.
  func isThat(of data: JSONValue) -> Bool {
    let names = data["platform"]?.text
    return names == nil || (names == platform && data["server"]?.text == server)
  }
}

extension ReceiveContext {
  /// Records a step durably before the next one.
  func record(_ stage: PublicationStage, at place: PublicationPlace) async throws {
    try await record(stage.name, stage.data(at: place))
  }
}
