package import HandoffProtocol
package import Paths

/// An imported video: immutable, known by its local identifier.
package struct Asset: Hashable, Sendable, Codable {
  /// What has become of its resource.
  package enum Status: String, Hashable, Sendable, Codable {
    case present
    case deleted
    case damaged
    case unavailable
  }

  package var localIdentifier: LocalIdentifier
  package var digest: ContentDigest
  /// Bytes.
  package var size: Int64
  package var facts: MediaFacts
  package var importedAt: Timestamp
  package var status: Status
  package var sources: [Sighting]
  package var supersedes: LocalIdentifier?
  package var supersededBy: LocalIdentifier?

  package init(
    digest: ContentDigest,
    size: Int64,
    facts: MediaFacts,
    importedAt: Timestamp,
    sources: [Sighting] = []
  ) {
    self.localIdentifier = LocalIdentifier(digest)
    self.digest = digest
    self.size = size
    self.facts = facts
    self.importedAt = importedAt
    self.status = .present
    self.sources = sources
  }
}

/// Where and when an asset's content was seen as an export.
package struct Sighting: Hashable, Sendable, Codable {
  package var path: BytePath
  /// The drop folder's configured path; `import` for an import by hand.
  package var folder: BytePath
  package var identity: FileIdentity
  package var seenAt: Timestamp

  package init(path: BytePath, folder: BytePath, identity: FileIdentity, seenAt: Timestamp) {
    self.path = path
    self.folder = folder
    self.identity = identity
    self.seenAt = seenAt
  }

  /// The folder of imports by hand.
  package static let byHand: BytePath = "import"
}
