package import HandoffCore
package import HandoffProtocol
import Paths

/// One asset as `handoff assets --json` shows it.
package struct AssetReport: Codable, Sendable {
  /// Where the asset was seen as an export.
  package struct Source: Codable, Sendable {
    package var path: String
    package var pathBytes: String?
    package var folder: String
    package var seenAt: Timestamp

    private enum CodingKeys: String, CodingKey {
      case path
      case pathBytes = "path_bytes"
      case folder
      case seenAt = "seen_at"
    }
  }

  /// What a receiver derived from it.
  package struct Rendition: Codable, Sendable {
    package var name: String
    package var sha256: String
    /// Bytes.
    package var size: Int64
    /// The destination whose receiver has registered it.
    package var registeredBy: String
    package var registeredAt: Timestamp
    package var status: Asset.Status

    private enum CodingKeys: String, CodingKey {
      case name
      case sha256
      case size
      case registeredBy = "registered_by"
      case registeredAt = "registered_at"
      case status
    }
  }

  /// A person's decision to take what the checks did not pass.
  package struct AcceptanceReport: Codable, Sendable {
    package var at: Timestamp
    /// The user id of who asked.
    @OrNull package var user: UInt32?
    /// What the checks said.
    package var findings: String
  }

  package var localIdentifier: LocalIdentifier
  package var sha256: ContentDigest
  package var size: Int64
  package var mediaType = "video"
  package var container: String
  package var videoCodec: String
  package var width: Int
  package var height: Int
  package var rotation: Int
  package var durationSeconds: Double
  package var importedAt: Timestamp
  package var status: Asset.Status
  package var sources: [Source]
  @OrNull package var supersedes: LocalIdentifier?
  @OrNull package var supersededBy: LocalIdentifier?
  package var renditions: [Rendition] = []
  /// It was imported with `--accept-incomplete`, and the checks did not pass.
  package var acceptedIncomplete: Bool
  @OrNull package var acceptance: AcceptanceReport?
  /// What could not be done after an import that counts; only in the answer to that import.
  package var warning: String?

  package init(_ asset: Asset) {
    localIdentifier = asset.localIdentifier
    sha256 = asset.digest
    size = asset.size
    container = asset.facts.container
    videoCodec = asset.facts.videoCodec
    width = asset.facts.width
    height = asset.facts.height
    rotation = asset.facts.rotation
    durationSeconds = asset.facts.duration
    importedAt = asset.importedAt
    status = asset.status
    sources = asset.sources.map { sighting in
      let path = PathReport(sighting.path)
      return Source(
        path: path.path,
        pathBytes: path.pathBytes,
        folder: sighting.folder.lossyText,
        seenAt: sighting.seenAt
      )
    }
    supersedes = asset.supersedes
    supersededBy = asset.supersededBy
    renditions = asset.renditions.map { rendition in
      Rendition(
        name: rendition.name.text,
        sha256: rendition.digest.hex,
        size: rendition.size,
        registeredBy: rendition.registeredBy.text,
        registeredAt: rendition.registeredAt,
        status: rendition.status
      )
    }
    acceptedIncomplete = asset.acceptance != nil
    acceptance = asset.acceptance.map {
      AcceptanceReport(at: $0.at, user: $0.by, findings: $0.findings)
    }
  }

  private enum CodingKeys: String, CodingKey {
    case localIdentifier = "local_identifier"
    case sha256
    case size
    case mediaType = "media_type"
    case container
    case videoCodec = "video_codec"
    case width
    case height
    case rotation
    case durationSeconds = "duration_s"
    case importedAt = "imported_at"
    case status
    case sources
    case supersedes
    case supersededBy = "superseded_by"
    case renditions
    case acceptedIncomplete = "accepted_incomplete"
    case acceptance
    case warning
  }
}
