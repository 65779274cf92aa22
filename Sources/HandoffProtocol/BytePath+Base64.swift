import FoundationEssentials
package import Paths

extension BytePath {
  /// The bytes in base64 (RFC 4648) where they are not UTF-8, for documents that hold only text; nil
  /// where the text alone is exact.
  package var base64UnlessText: String? {
    exactText == nil ? Data(bytes).base64EncodedString() : nil
  }

  /// Reads bytes in base64 (RFC 4648); nil for anything else.
  package init?(base64 text: String) {
    guard let bytes = Data(base64Encoded: text) else { return nil }
    self.init(bytes)
  }
}
