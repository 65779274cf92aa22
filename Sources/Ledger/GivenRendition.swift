import HandoffCore
import HandoffProtocol

/// A rendition that a request's receiver was given in an asset's place, as the event of its submission tells.
struct GivenRendition: Codable, Sendable {
  let localIdentifier: LocalIdentifier
  let name: RenditionName
  let sha256: ContentDigest
  let size: Int64

  private enum CodingKeys: String, CodingKey {
    case localIdentifier = "local_identifier"
    case name
    case sha256
    case size
  }

  private struct Detail: Codable {
    let given: [GivenRendition]
  }

  /// What is kept of the assets of a submission; nil where they are the originals.
  static func detail(of assets: [Asset]) throws -> String? {
    let given = assets.compactMap { asset in
      asset.given.map {
        GivenRendition(
          localIdentifier: asset.localIdentifier,
          name: $0.name,
          sha256: asset.digest,
          size: asset.size
        )
      }
    }
    guard !given.isEmpty else { return nil }
    return String(decoding: try WireCoder.encode(Detail(given: given)), as: UTF8.self)
  }

  /// Reads it again.
  static func read(_ detail: String) throws -> [GivenRendition] {
    try WireCoder.decode(Detail.self, from: Array(detail.utf8), limit: .max).given
  }
}
