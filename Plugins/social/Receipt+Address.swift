import HandoffPluginKit
import HandoffProtocol

extension Receipt {
  /// An address that a service has told, fit to be shown as a link; nil for anything else.
  static func address(_ value: JSONValue?) -> String? {
    guard let text = value?.text, text.utf8.count <= 2048,
      text.hasPrefix("https://") || text.hasPrefix("http://"),
      text.utf8.allSatisfy({ $0 > 0x20 && $0 != 0x7F })
    else { return nil }
    return text
  }
}
