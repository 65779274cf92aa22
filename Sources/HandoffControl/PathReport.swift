import HandoffProtocol
package import Paths

/// A path in JSON: readable text, and the exact bytes in base64 where they are not UTF-8.
package struct PathReport: Codable, Sendable {
  package var path: String
  package var pathBytes: String?

  package init(_ path: BytePath) {
    self.path = path.lossyText
    self.pathBytes = path.base64UnlessText
  }
}
