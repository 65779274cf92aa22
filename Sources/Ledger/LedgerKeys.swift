import Digests

/// The keys made of the ledger's key, so that no code of one kind can pass for the other.
struct LedgerKeys: Sendable, CustomStringConvertible {
  let tokens: [UInt8]
  let events: [UInt8]
  let grants: [UInt8]
  let pruning: [UInt8]

  init(_ key: [UInt8]) throws {
    tokens = try HMACSHA256.code(of: Array("state tokens".utf8), key: key)
    events = try HMACSHA256.code(of: Array("events".utf8), key: key)
    grants = try HMACSHA256.code(of: Array("grants".utf8), key: key)
    pruning = try HMACSHA256.code(of: Array("pruned events".utf8), key: key)
  }

  /// Never the keys.
  var description: String { "(keys)" }
}
