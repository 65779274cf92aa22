package import HandoffCore
import HandoffProtocol
import Paths

/// What stands in an object's record file: an asset, in a form that outlives changes of ``Asset``.
///
/// One JSON document with members in order of their names and a line feed at its end. Times are
/// RFC 3339; a path is a text, or a list of bytes where it is not UTF-8; members that are not known
/// are ignored.
package struct AssetRecord: Hashable, Codable {
  /// One place where the content was seen.
  struct Source: Hashable, Codable {
    var path: BytePath
    var folder: BytePath
    var identity: FileIdentity
    var seenAt: Timestamp

    private enum CodingKeys: String, CodingKey {
      case path
      case folder
      case identity
      case seenAt = "seen_at"
    }
  }

  /// A person's decision to take what the checks did not pass.
  struct AcceptanceRecord: Hashable, Codable {
    var at: Timestamp
    /// The user id of the process that asked.
    var by: UInt32?
    var findings: String
  }

  var localIdentifier: LocalIdentifier
  var digest: ContentDigest
  /// Bytes.
  var size: Int64
  var facts: MediaFacts
  var importedAt: Timestamp
  var status: Asset.Status
  var sources: [Source]
  var supersedes: LocalIdentifier?
  var supersededBy: LocalIdentifier?
  /// Only where a person took it although the checks said no.
  var acceptedIncomplete: AcceptanceRecord?
  /// What receivers derived from it; nil in records of releases that knew none.
  var renditions: [Rendition]?

  private enum CodingKeys: String, CodingKey {
    case localIdentifier = "local_identifier"
    case digest = "sha256"
    case size
    case facts
    case importedAt = "imported_at"
    case status
    case sources
    case supersedes
    case supersededBy = "superseded_by"
    case acceptedIncomplete = "accepted_incomplete"
    case renditions
  }

  package init(_ asset: Asset) {
    localIdentifier = asset.localIdentifier
    digest = asset.digest
    size = asset.size
    facts = asset.facts
    importedAt = asset.importedAt
    status = asset.status
    sources = asset.sources.map { sighting in
      Source(
        path: sighting.path,
        folder: sighting.folder,
        identity: sighting.identity,
        seenAt: sighting.seenAt
      )
    }
    supersedes = asset.supersedes
    supersededBy = asset.supersededBy
    acceptedIncomplete = asset.acceptance.map {
      AcceptanceRecord(at: $0.at, by: $0.by, findings: $0.findings)
    }
    renditions = asset.renditions.isEmpty ? nil : asset.renditions
  }

  /// The asset; nil if the identifier is not that of the digest.
  package var asset: Asset? {
    var asset = Asset(
      digest: digest,
      size: size,
      facts: facts,
      importedAt: importedAt,
      sources: sources.map { source in
        Sighting(
          path: source.path,
          folder: source.folder,
          identity: source.identity,
          seenAt: source.seenAt
        )
      }
    )
    guard asset.localIdentifier == localIdentifier else { return nil }
    asset.status = status
    asset.supersedes = supersedes
    asset.supersededBy = supersededBy
    asset.acceptance = acceptedIncomplete.map {
      Acceptance(at: $0.at, by: $0.by, findings: $0.findings)
    }
    asset.renditions = renditions ?? []
    return asset
  }
}
