import ContainerChecks
import HandoffCore

/// What is known of a file's tracks, from the walkers where they read the index, else from libavformat.
struct TrackReading {
  let file: VideoFile
  let video: VideoStream
  private let kind: ContainerKind
  private let report: StructureReport
  private let streams: [(stream: VideoStream, index: IndexSummary)]

  init(file: VideoFile, video: VideoStream, kind: ContainerKind, report: StructureReport) {
    self.kind = kind
    self.file = file
    self.video = video
    self.report = report
    streams = report.needsIndex ? file.streams.map { ($0, $0.summary) } : []
  }

  private var videoIndex: IndexSummary {
    let own = report.tracks.first { $0.kind == .video }?.packets ?? IndexSummary()
    if own.first != nil { return own }
    return streams.first { $0.stream.index == video.index }?.index ?? own
  }

  func indexFinding(size: Int64) -> Finding {
    if case .flash = kind,
      let reason = DurationCheck.shortfall(declared: file.declaredDuration, seen: report.duration)
    {
      return Finding(.incomplete, reason)
    }
    return IndexRange.check(report.tracks.map(\.packets) + streams.map(\.index), size: size)
  }

  /// Whether the first and last packets hold something, and the file's end was written.
  func packetFinding(_ source: ByteSource, codec: String) throws -> Finding {
    let tolerance = ZeroTolerance.of(codec: codec)
    let packets =
      if videoIndex.first == nil {
        unindexed(tolerance)
      } else {
        try PacketZeros.check(videoIndex, tolerance, source)
      }
    let (place, end) = farthest(codec)
    let tail = try ZeroTail.check(report, farthest: place, tolerance: end, source)
    return tail.outcome > packets.outcome ? tail : packets
  }

  /// The packet that ends nearest to the file's end, of all tracks, and how many zeros it may have.
  private func farthest(_ codec: String) -> (PacketPlace?, ZeroTolerance) {
    let own = report.tracks.map { ($0.packets.farthest, ZeroTolerance.of(codec: $0.codec)) }
    let others = streams.map { ($0.index.farthest, ZeroTolerance.of(codec: $0.stream.codec ?? "")) }
    let last = (own + others).max { ($0.0?.end ?? -1) < ($1.0?.end ?? -1) }
    return last ?? (nil, .padding)
  }

  /// Without an index only the first packet can be looked at.
  private func unindexed(_ tolerance: ZeroTolerance) -> Finding {
    // An MP4 is nothing but its index, and libavformat searches long for what a broken one hides.
    if case .isoMedia = kind { return Finding(.incomplete, "no video packet") }
    let packet = file.peekPacket(of: video)
    guard !packet.isEmpty else { return Finding(.incomplete, "no video packet can be read") }
    if packet.allSatisfy({ $0 == 0 }), tolerance != .anything {
      return Finding(.incomplete, "the first video packet is all zeros")
    }
    return Finding(.notProvable, "the first video packet can be read; no index names the last")
  }

  /// Something in the header is missing or hardly possible.
  var isSuspicious: Bool {
    if max(video.width, video.height) > 8_192 { return true }
    // A fragmented MP4 never declares its duration; a Matroska file that does not was not closed.
    if case .matroska = kind { return file.declaredDuration == nil }
    return false
  }

  /// The first video packet begins as its codec's packets do.
  func firstPacketLooksRight(_ source: ByteSource, codec: String) throws -> Bool {
    guard let first = videoIndex.first else { return false }
    return try PacketLook.isPlausible(first, codec: codec, source)
  }

  func facts(codec: String) -> MediaFacts {
    let rotation = video.rotation
    let isTurned = rotation == 90 || rotation == 270
    return MediaFacts(
      container: kind.name,
      videoCodec: codec,
      width: isTurned ? video.height : video.width,
      height: isTurned ? video.width : video.height,
      rotation: rotation,
      duration: duration,
      audioTracks: file.streams.filter(\.isAudio).count
    )
  }

  /// Seconds as played.
  private var duration: Double {
    let own = file.streams.filter { $0.isVideo || $0.isAudio }.compactMap(\.duration).max()
    let declared = file.declaredDuration
    guard let packets = report.duration else {
      return (report.needsIndex ? own ?? declared : declared ?? own) ?? 0
    }
    // The last tag's time is not its end, and `indexFinding` has compared the two.
    if case .flash = kind { return max(declared ?? 0, packets) }
    // The header counts more finely than a time stamp and a guessed last frame, where the two agree.
    if let declared, abs(declared - packets) <= max(0.1, packets * 0.01) { return declared }
    return report.needsIndex ? max(packets, own ?? 0) : packets
  }
}
