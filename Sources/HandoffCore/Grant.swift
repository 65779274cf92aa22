/// What a receiver without a granted path shows to read the assets of one handoff: a text that is never
/// the state token and is worth nothing once the handoff has ended.
///
/// Descriptions and dumps show only that there is one.
package struct Grant: Sendable {
  /// For the header of a request only: never for a log, an argument or an error.
  package let revealed: String

  /// The longest that is read, in bytes.
  package static let maximumLength = 128

  /// Nil for what cannot be one.
  package init?(_ text: String) {
    let allowed = text.utf8.allSatisfy { byte in
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "-"),
        UInt8(ascii: "_"):
        true
      default: false
      }
    }
    guard allowed, !text.isEmpty, text.utf8.count <= Self.maximumLength else { return nil }
    revealed = text
  }

  /// The handoff that it names; that it does proves nothing yet.
  package var handoff: Handoff.ID? {
    revealed.split(separator: ".", maxSplits: 1).first.flatMap { Handoff.ID(String($0)) }
  }
}

extension Grant: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  /// Never the grant.
  package var description: String { "(grant)" }
  /// Never the grant.
  package var debugDescription: String { description }
  /// Never the grant.
  package var customMirror: Mirror { Mirror(self, children: []) }
}
