import HTTPServer
import HandoffProtocol
import Webhooks

extension FuzzTarget {
  /// A request or a result that came as a URL.
  static let urls = FuzzTarget("urls") { bytes in
    try checkURL(
      bytes,
      { try HandoffURL.decodeRequest($0) },
      { try HandoffURL.encode($0, scheme: "app") }
    )
    try checkURL(bytes, { try HandoffURL.decodeResult($0) }, { try HandoffURL.encode($0) })
  }

  private static func checkURL<Document: Encodable>(
    _ bytes: [UInt8],
    _ decode: ([UInt8]) throws -> Document,
    _ encode: (Document) throws -> String
  ) throws {
    let document: Document
    do {
      document = try decode(bytes)
    } catch let error as ProtocolError {
      return try Refusals.check(error.message, of: bytes)
    }
    do {
      let again = try decode(Array(try encode(document).utf8))
      let isSame = try WireCoder.encode(again) == WireCoder.encode(document)
      try hold(isSame, "another document after it was written as a URL")
    } catch let error as ProtocolError {
      // Written without the shortcuts that its sender took, it may be too long.
      try hold(bytes.count > HandoffURL.maximumSize / 12, "not written again: \(error.message)")
    }
  }

  /// A webhook: its three headers on a line each, and then the body.
  static let webhook = FuzzTarget("webhook") { bytes in
    let parts = bytes.split(
      separator: UInt8(ascii: "\n"),
      maxSplits: 3,
      omittingEmptySubsequences: false
    )
    let names = [WebhookHeader.id, WebhookHeader.timestamp, WebhookHeader.signature]
    let texts = parts.map { String(decoding: $0, as: UTF8.self) }
    let headers = Dictionary(uniqueKeysWithValues: zip(names, texts))
    let body = parts.count > 3 ? Array(parts[3]) : []
    let secret = try WebhookSecret("whsec_" + String(repeating: "QUJD", count: 8))
    do {
      let webhook = try ReceivedWebhook(body: body, header: { headers[$0] })
      try hold(try !webhook.isSigned(with: secret), "a signature that nobody made")
      let signed = try WebhookSigner([secret]).headers(
        id: webhook.id,
        at: webhook.sentAt,
        body: body
      )
      let again = try ReceivedWebhook(
        body: body,
        header: { name in signed.first { $0.name == name }?.value }
      )
      try again.verify([secret], now: webhook.sentAt)
    } catch let error as WebhookError {
      try Refusals.check("\(error)", of: bytes)
    }
  }

  /// The `Range` header of a request, for files of several sizes.
  static let range = FuzzTarget("range") { bytes in
    let header = String(decoding: bytes, as: UTF8.self)
    for size in [0, 1, 10, 1 << 40, Int64.max] {
      guard case .part(let offset, let count) = ByteRange(header, size: size) else { continue }
      try hold(offset >= 0 && count > 0, "a part of nothing")
      try hold(offset < size && count <= size - offset, "a part outside the file")
    }
  }
}
