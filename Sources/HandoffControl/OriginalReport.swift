package import HandoffProtocol
package import Paths

/// An original that stays where it is although its folder says that it goes once it is handed off.
package struct OriginalReport: Codable, Sendable {
  package var path: String
  package var pathBytes: String?
  package var localIdentifier: LocalIdentifier
  /// Why it stays, in one sentence.
  package var reason: String

  package init(_ path: BytePath, localIdentifier: LocalIdentifier, reason: String) {
    let report = PathReport(path)
    self.path = report.path
    self.pathBytes = report.pathBytes
    self.localIdentifier = localIdentifier
    self.reason = reason
  }

  private enum CodingKeys: String, CodingKey {
    case path
    case pathBytes = "path_bytes"
    case localIdentifier = "local_identifier"
    case reason
  }
}
