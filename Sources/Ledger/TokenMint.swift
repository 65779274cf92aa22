import Digests
import HandoffProtocol

/// Makes the state tokens: `ROW.CODE`, where the code is HMAC-SHA-256, under a key that the ledger
/// does not hold, of the row and 192 random bits that it does.
///
/// The same row and bits give the same token, also after a restart.
struct TokenMint: ~Copyable {
  /// Bytes of randomness for each handoff.
  static let randomCount = 24

  private var keyed: HMACSHA256

  init(_ keys: LedgerKeys) throws {
    keyed = try HMACSHA256(key: keys.tokens)
  }

  /// The token's text.
  mutating func text(row: Int64, random: [UInt8]) throws -> String {
    let code = try keyed.code(of: row.bigEndianBytes + random)
    return "\(row)." + Base64URL.text(of: code)
  }

  /// The token.
  mutating func token(row: Int64, random: [UInt8]) throws -> StateToken {
    guard let token = StateToken(try text(row: row, random: random)) else {
      throw ProtocolError(.unknownState, "the row of a token is out of range")
    }
    return token
  }

  /// What the ledger keeps of a token.
  static func digest(of text: String) throws -> [UInt8] {
    try SHA256.digest(of: Array(text.utf8))
  }

  /// The row that a token names; nil where it names none.
  ///
  /// That it does proves nothing yet.
  static func row(of token: StateToken) -> Int64? {
    let text = token.revealed.utf8
    guard let dot = text.firstIndex(of: UInt8(ascii: ".")) else { return nil }
    return Int64(String(text[..<dot]) ?? "").flatMap { $0 > 0 ? $0 : nil }
  }
}

extension Int64 {
  /// The eight bytes, the most significant first.
  var bigEndianBytes: [UInt8] {
    withUnsafeBytes(of: bigEndian) { Array($0) }
  }
}
