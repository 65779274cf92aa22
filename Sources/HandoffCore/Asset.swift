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
  /// Nil for an asset whose export passed every check.
  package var acceptance: Acceptance?
  /// What receivers derived from it and have registered, in the order of their names.
  package var renditions: [Rendition] = []
  /// The rendition whose digest, size and facts these are, where a destination is given one instead of
  /// the original; nil for the original.
  package private(set) var given: Rendition?

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

  /// The asset as a destination is given it that uses a rendition: the identifier stays the asset's.
  ///
  /// - Returns: nil where it has no rendition of that name.
  package func given(as name: RenditionName) -> Asset? {
    guard let rendition = renditions.first(where: { $0.name == name }) else { return nil }
    var asset = self
    asset.given = rendition
    asset.digest = rendition.digest
    asset.size = rendition.size
    asset.facts = rendition.facts ?? rendition.factsOfNoVideo
    return asset
  }
}

/// A person's decision to take a file that the checks did not pass.
package struct Acceptance: Hashable, Sendable, Codable {
  package var at: Timestamp
  /// The user id of the process that asked; nil where it could not be told.
  package var by: UInt32?
  /// What the checks said, in one sentence.
  package var findings: String

  package init(at: Timestamp, by: UInt32?, findings: String) {
    self.at = at
    self.by = by
    self.findings = findings
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
