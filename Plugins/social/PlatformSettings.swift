import HandoffPluginKit
import HandoffProtocol

/// The settings of one destination, as its platform reads them.
struct PlatformSettings: Sendable {
  /// The service's base URL, without a slash at its end.
  let server: String
  /// The whole settings table.
  let values: JSONValue
  /// Reads the credential anew, because it may have been replaced; it is part of no error.
  let token: @Sendable () throws(ResultError) -> String

  /// A member that is a text; nil where it is missing or empty.
  func text(_ name: String) -> String? {
    values[name]?.text.flatMap { $0.isEmpty ? nil : $0 }
  }

  /// A member that has to be there.
  func required(_ name: String) throws(ResultError) -> String {
    guard let text = text(name) else { throw .notConfigured("settings.\(name) is missing") }
    return text
  }

  /// A member that is a number of seconds.
  func seconds(_ name: String) -> Double? {
    switch values[name] {
    case .integer(let number): Double(number)
    case .number(let number): number
    default: nil
    }
  }
}
