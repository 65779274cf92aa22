import Glibc
import HandoffPluginKit
import HandoffProtocol

/// How far a publication has come, as it is recorded.
enum SocialStage: Sendable {
  /// The server has the video; nothing is published.
  case uploaded(media: String, at: Timestamp)
  /// A status may have been asked for, first at this moment.
  case posting(media: String, since: Timestamp)

  /// Reads what was recorded; nil for nothing.
  init?(_ recorded: RecordedStage?) {
    guard let recorded, let media = MastodonClient.id(recorded.data["media_id"]) else {
      return nil
    }
    let at = recorded.data["at"]?.text.flatMap { Timestamp(rfc3339: $0) } ?? recorded.at
    switch recorded.name {
    case "uploaded": self = .uploaded(media: media, at: at)
    case "posting": self = .posting(media: media, since: at)
    default: return nil
    }
  }

  var name: String {
    switch self {
    case .uploaded: "uploaded"
    case .posting: "posting"
    }
  }

  var data: JSONValue {
    switch self {
    case .uploaded(let media, let at), .posting(let media, let at):
      .object(["media_id": .string(media), "at": .string(at.rfc3339)])
    }
  }
}

extension ReceiveContext {
  /// Records a step durably before the next one.
  func record(_ stage: SocialStage) async throws {
    try await record(stage.name, stage.data)
  }
}

/// The present moment, for what is recorded and for limits that a server tells as moments.
enum SystemMoment {
  static func now() -> Timestamp {
    var time = timespec()
    // CLOCK_REALTIME always exists, so the call cannot fail.
    clock_gettime(CLOCK_REALTIME, &time)
    return Timestamp(milliseconds: Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000)
  }
}
