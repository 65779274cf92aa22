import HandoffPluginKit
import HandoffProtocol

extension Post {
  /// The words as far as they are known without the asset and the settings: for looking.
  static func unwritten(_ handoff: ReceivedHandoff) -> Post {
    Post(
      key: handoff.idempotencyKey,
      title: handoff.title ?? handoff.id,
      text: handoff.title ?? "",
      description: "",
      tags: [],
      language: nil,
      altText: nil,
      visibility: nil,
      scheduledAt: handoff.metadata?["scheduled_at"]?.text.flatMap { Timestamp(rfc3339: $0) },
      metadata: handoff.metadata
    )
  }
}
