/// What walking a container's outer structure showed.
package struct StructureReport: Hashable, Sendable {
  /// Whether the structure fills the file.
  package var finding: Finding
  /// Where padding begins that reaches to the end of the file; the file's size where there is none.
  package var contentEnd: Int64
  /// Large outermost padding: what lies in it means nothing, so it need not have been written.
  package var padding: [Range<Int64>] = []
  /// What lies before ``contentEnd`` is media data, not an index.
  package var endsInMedia: Bool
  /// Why the packets cannot be read without a key; nil if they can.
  package var encryption: String?
  /// The tracks with their packets, where the walker reads the container's index itself.
  package var tracks: [TrackIndex]
  /// What says where the packets are is not read here: another reader of the index has to.
  package var needsIndex: Bool
  /// When the last packet ends less when the first begins, in seconds, where the walker knows.
  package var duration: Double?

  package init(
    _ finding: Finding,
    contentEnd: Int64,
    endsInMedia: Bool = false,
    encryption: String? = nil,
    tracks: [TrackIndex] = [],
    needsIndex: Bool = false,
    duration: Double? = nil
  ) {
    self.finding = finding
    self.contentEnd = contentEnd
    self.endsInMedia = endsInMedia
    self.encryption = encryption
    self.tracks = tracks
    self.needsIndex = needsIndex
    self.duration = duration
  }

  /// Walks a container of a known kind.
  package static func of(_ kind: ContainerKind, _ source: ByteSource) throws -> StructureReport {
    switch kind {
    case .isoMedia: try ISOMedia.report(source)
    case .matroska: try MatroskaFile.report(source)
    case .avi: try RIFFChunks.report(source)
    case .transportStream(let packet): try TransportStream.report(source, packet: packet)
    case .flash: try FlashTags.report(source)
    case .programStream: endless(source, "MPEG program streams")
    case .advancedSystems: endless(source, "ASF files")
    case .ogg: try OggPages.report(source)
    case .materialExchange: endless(source, "MXF files")
    }
  }

  /// A report of a container whose end cannot be known.
  private static func endless(_ source: ByteSource, _ name: String) -> StructureReport {
    StructureReport(
      Finding(.notProvable, "\(name) declare no end"),
      contentEnd: source.size
    )
  }

  /// A report of a container that is not whole.
  static func incomplete(_ source: ByteSource, _ detail: String) -> StructureReport {
    StructureReport(Finding(.incomplete, detail), contentEnd: source.size)
  }
}
