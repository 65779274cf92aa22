import Digests
import HandoffProtocol

/// The last event that is known: what the next one is chained to.
struct ChainHead: Hashable, Sendable {
  /// 0 before the first event.
  var sequence: Int64
  /// 32 bytes; zeros before the first event.
  var code: [UInt8]

  static let start = ChainHead(sequence: 0, code: [UInt8](repeating: 0, count: 32))
}

/// The columns of one event, without its place in the chain.
struct Event: Sendable {
  var at: Int64
  var kind: String
  var handoff: Int64?
  var asset: Int64?
  var destination: String?
  var from: String?
  var to: String?
  var attempt: Int64?
  var detail: String?
}

/// Computes the keyed digests that chain events.
struct EventChain: ~Copyable {
  private var keyed: HMACSHA256

  init(_ keys: LedgerKeys) throws {
    keyed = try HMACSHA256(key: keys.events)
  }

  /// The head after one more event: HMAC-SHA-256 of the code before it, its number and its columns,
  /// each with its length, so that no two different events have the same form.
  mutating func head(after head: ChainHead, appending event: Event) throws -> ChainHead {
    let sequence = head.sequence + 1
    var message = head.code
    message.reserveCapacity(192)
    append(sequence, to: &message)
    append(event.at, to: &message)
    append(event.kind, to: &message)
    append(event.handoff, to: &message)
    append(event.asset, to: &message)
    append(event.destination, to: &message)
    append(event.from, to: &message)
    append(event.to, to: &message)
    append(event.attempt, to: &message)
    append(event.detail, to: &message)
    return ChainHead(sequence: sequence, code: try keyed.code(of: message))
  }

  private func append(_ number: Int64?, to message: inout [UInt8]) {
    guard let number else { return message.append(0) }
    message.append(8)
    withUnsafeBytes(of: number.bigEndian) { message.append(contentsOf: $0) }
  }

  private func append(_ text: String?, to message: inout [UInt8]) {
    guard let text else { return message.append(0) }
    message.append(1)
    append(Int64(text.utf8.count), to: &message)
    message.append(contentsOf: text.utf8)
  }
}
