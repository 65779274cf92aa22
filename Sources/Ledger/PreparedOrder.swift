import Digests
import HandoffCore
import HandoffProtocol

/// An order with all that can be made of it outside the transaction.
struct PreparedOrder: Sendable {
  let order: HandoffOrder
  /// JSON.
  let metadata: String?
  /// Tells whether another order with the same key asks for the same.
  let bodyDigest: [UInt8]?
  let random: [UInt8]

  init(_ order: HandoffOrder) throws {
    let identifiers = order.localIdentifiers
    guard !identifiers.isEmpty, Set(identifiers).count == identifiers.count else {
      throw LedgerError.malformedOrder(
        order.destination,
        detail: "no local identifier, or one twice"
      )
    }
    self.order = order
    let metadata = try order.metadata.map {
      String(decoding: try WireCoder.encode($0), as: UTF8.self)
    }
    self.metadata = metadata
    try Self.checkSize(order, metadata)
    random = try RandomBytes.make(count: TokenMint.randomCount)
    bodyDigest = try order.key.map { _ in try Self.digest(order, metadata) }
  }

  /// Refuses what no receiver would take: a request that is larger than a request may be, with the
  /// longest token and attempt that there are.
  private static func checkSize(_ order: HandoffOrder, _ metadata: String?) throws {
    // Six bytes are the longest escape of one, and the members' names and the token take less than
    // 512: nearly every order passes without being encoded.
    let texts = (order.title?.utf8.count ?? 0) + (order.callbackID?.text.utf8.count ?? 0)
    let most = 512 + 6 * texts + (metadata?.utf8.count ?? 0) + 64 * order.localIdentifiers.count
    guard most > HandoffRequest.maximumSize else { return }
    guard let token = StateToken("\(Int64.max).\(String(repeating: "A", count: 43))") else {
      throw ProtocolError(.unknownState, "the longest token is none")
    }
    let request = HandoffRequest(
      localIdentifiers: order.localIdentifiers,
      state: token,
      title: order.title,
      syncPublish: order.syncPublish,
      callbackID: order.callbackID,
      expiresAt: order.expiresAt,
      attempt: .max,
      metadata: order.metadata
    )
    let size = try WireCoder.encode(request).count
    guard size <= HandoffRequest.maximumSize else {
      throw LedgerError.malformedOrder(
        order.destination,
        detail: "the request takes \(size) bytes, more than \(HandoffRequest.maximumSize)"
      )
    }
  }

  /// The digest of what is asked for.
  ///
  /// The expiry is not part of it: a sender that repeats its call
  /// with "expires in an hour" asks for the same.
  private static func digest(_ order: HandoffOrder, _ metadata: String?) throws -> [UInt8] {
    let parts: [String?] =
      [
        order.destination.text, order.title, order.syncPublish ? "1" : "0", order.callbackID?.text,
        metadata, order.publishAt.map { String($0.milliseconds) },
      ] + order.localIdentifiers.map(\.text)
    var digest = try SHA256()
    for part in parts {
      // Absent and empty differ, and no text can pass for two.
      digest.update(Int64(part?.utf8.count ?? -1).bigEndianBytes)
      digest.update(Array((part ?? "").utf8))
    }
    return try digest.finish()
  }
}
