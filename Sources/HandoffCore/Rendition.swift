package import HandoffProtocol

/// Something that a receiver derived from an asset, as a proxy or a poster: the library keeps a copy.
///
/// It is encoded as records have it: without what is known of its object at the moment.
package struct Rendition: Hashable, Sendable, Codable {
  package var name: RenditionName
  package var digest: ContentDigest
  /// Bytes.
  package var size: Int64
  /// Of its file's name, without the dot; empty where that had none.
  package var fileExtension: String
  /// Nil for what is no video.
  package var facts: MediaFacts?
  package var registeredBy: DestinationName
  package var registeredAt: Timestamp
  /// `present`, `damaged`, or `unavailable` where its object is missing.
  package var status = Asset.Status.present
  /// The modification time, in nanoseconds, of the object that was found good; nil where it was never
  /// read again.
  package var modified: Int64?

  package init(
    name: RenditionName,
    digest: ContentDigest,
    size: Int64,
    fileExtension: String,
    facts: MediaFacts?,
    registeredBy: DestinationName,
    registeredAt: Timestamp
  ) {
    self.name = name
    self.digest = digest
    self.size = size
    self.fileExtension = fileExtension
    self.facts = facts
    self.registeredBy = registeredBy
    self.registeredAt = registeredAt
  }

  private enum CodingKeys: String, CodingKey {
    case name
    case digest = "sha256"
    case size
    case fileExtension = "extension"
    case facts
    case registeredBy = "registered_by"
    case registeredAt = "registered_at"
  }

  /// What stands for the facts of a picture or a text: only its kind is known.
  var factsOfNoVideo: MediaFacts {
    MediaFacts(
      container: fileExtension,
      videoCodec: "",
      width: 0,
      height: 0,
      rotation: 0,
      duration: 0,
      audioTracks: 0
    )
  }
}
