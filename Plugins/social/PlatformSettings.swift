import HandoffPluginKit
import HandoffProtocol

/// The settings of one destination, as its platform reads them.
struct PlatformSettings: Sendable {
  /// The service's base URL, without a slash at its end.
  let server: String
  /// The whole settings table.
  let values: JSONValue
  /// Seconds between two questions.
  let pollInterval: Double
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

  /// What every request says of who asks.
  static let agent = "handoff-social/1.1"
}
