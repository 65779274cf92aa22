package import HandoffProtocol
package import Paths

/// An order that is held since a rebuild of the ledger, as `handoff status --json` lists it.
package struct HeldOrderReport: Codable, Sendable {
  /// The export, or the package.
  package var path: String
  package var pathBytes: String?
  package var localIdentifiers: [LocalIdentifier]
  package var destination: DestinationName
  @OrNull package var title: String?
  package var heldAt: Timestamp

  package init(
    _ path: BytePath,
    localIdentifiers: [LocalIdentifier],
    destination: DestinationName,
    title: String?,
    heldAt: Timestamp
  ) {
    let report = PathReport(path)
    self.path = report.path
    self.pathBytes = report.pathBytes
    self.localIdentifiers = localIdentifiers
    self.destination = destination
    self.title = title
    self.heldAt = heldAt
  }

  private enum CodingKeys: String, CodingKey {
    case path
    case pathBytes = "path_bytes"
    case localIdentifiers = "local_identifiers"
    case destination
    case title
    case heldAt = "held_at"
  }
}
