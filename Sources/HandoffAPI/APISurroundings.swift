package import HandoffCore
package import HandoffProtocol
package import LinuxSystem
package import Paths
package import Webhooks

/// What the API asks of the rest of the broker.
package struct APISurroundings: Sendable {
  /// The secrets of each destination whose receiver sends results here, as they are at this moment: a
  /// reload may change them.
  package var secretsNow: @Sendable () -> [DestinationName: [WebhookSecret]]
  /// Takes a result into the ledger from one of the destinations whose secret has signed it, of which
  /// there is at least one.
  ///
  /// Throws a `ResultError` where it is refused; after any other error it may be sent again.
  package var takeResult: @Sendable (HandoffResult, [DestinationName]) async throws -> Void
  /// Opens an asset for whoever holds a grant, asking the ledger at this moment.
  ///
  /// Throws a `ResultError` where it is not to be had; after any other error it may be asked again.
  package var openAsset: @Sendable (Grant, _ uuid: String) async throws -> ReadableAsset
  package var now: @Sendable () -> Timestamp

  package init(
    secretsNow: @escaping @Sendable () -> [DestinationName: [WebhookSecret]],
    takeResult: @escaping @Sendable (HandoffResult, [DestinationName]) async throws -> Void,
    openAsset: @escaping @Sendable (Grant, _ uuid: String) async throws -> ReadableAsset,
    now: @escaping @Sendable () -> Timestamp
  ) {
    self.secretsNow = secretsNow
    self.takeResult = takeResult
    self.openAsset = openAsset
    self.now = now
  }

  /// With secrets that stay.
  package init(
    secrets: [DestinationName: [WebhookSecret]],
    takeResult: @escaping @Sendable (HandoffResult, [DestinationName]) async throws -> Void,
    openAsset: @escaping @Sendable (Grant, _ uuid: String) async throws -> ReadableAsset,
    now: @escaping @Sendable () -> Timestamp
  ) {
    self.init(secretsNow: { secrets }, takeResult: takeResult, openAsset: openAsset, now: now)
  }
}

extension APISurroundings {
  var secrets: [DestinationName: [WebhookSecret]] { secretsNow() }
}

/// An asset's bytes, opened: they stay readable whatever becomes of the grant.
package struct ReadableAsset: Sendable {
  package let file: FileDescriptor
  /// Bytes.
  package let size: Int64
  package let digest: ContentDigest
  /// The export's own file name.
  package let name: BytePath
  /// `video/mp4` and the like.
  package let contentType: String

  package init(
    file: FileDescriptor,
    size: Int64,
    digest: ContentDigest,
    name: BytePath,
    contentType: String
  ) {
    self.file = file
    self.size = size
    self.digest = digest
    self.name = name
    self.contentType = contentType
  }
}
