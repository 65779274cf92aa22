import CAVFormat
import ContainerChecks

/// One stream of a file, valid as long as its ``VideoFile``.
struct VideoStream {
  private let stream: UnsafeMutablePointer<AVStream>
  let index: Int
  private let kind: ContainerKind

  init(_ stream: UnsafeMutablePointer<AVStream>, index: Int, kind: ContainerKind) {
    self.stream = stream
    self.index = index
    self.kind = kind
  }

  var parameters: UnsafeMutablePointer<AVCodecParameters> { stream.pointee.codecpar }

  private var type: AVMediaType { parameters.pointee.codec_type }

  var isVideo: Bool { type == AVMEDIA_TYPE_VIDEO && handoff_av_is_picture(stream) == 0 }
  var isPicture: Bool { type == AVMEDIA_TYPE_VIDEO && handoff_av_is_picture(stream) != 0 }
  var isAudio: Bool { type == AVMEDIA_TYPE_AUDIO }

  /// libavcodec's name, or the container's own four characters; nil where there is neither.
  var codec: String? {
    let id = parameters.pointee.codec_id
    if id != AV_CODEC_ID_NONE { return String(cString: avcodec_get_name(id)) }
    let tag = parameters.pointee.codec_tag
    return tag == 0 ? nil : FourCC(rawValue: tag.byteSwapped).text
  }

  /// As stored, before rotation.
  var width: Int { Int(parameters.pointee.width) }
  /// As stored, before rotation.
  var height: Int { Int(parameters.pointee.height) }

  /// Degrees clockwise: 0, 90, 180 or 270; what else a display matrix says counts as 0.
  var rotation: Int {
    guard let data = av_stream_get_side_data(stream, AV_PKT_DATA_DISPLAYMATRIX, nil) else {
      return 0
    }
    let counterclockwise = data.withMemoryRebound(to: Int32.self, capacity: 9) {
      av_display_rotation_get($0)
    }
    // A matrix of zeros gives NaN, and others more than an Int holds.
    guard counterclockwise.isFinite, abs(counterclockwise) <= 360 else { return 0 }
    let clockwise = Int((-counterclockwise).rounded() + 720) % 360
    return [90, 180, 270].contains(clockwise) ? clockwise : 0
  }

  /// What the index says.
  var summary: IndexSummary {
    var summary = IndexSummary()
    // An AVI index points at the chunk's header.
    let shift: Int64 = kind == .avi ? 8 : 0
    for number in 0..<avformat_index_get_entries_count(stream) {
      let entry = handoff_av_entry(stream, number)
      summary.add(PacketPlace(offset: entry.offset &+ shift, size: entry.size))
    }
    return summary
  }

  /// Seconds as played, from the track's own table; nil where there is none.
  var duration: Double? {
    let declared = stream.pointee.duration
    let unit = av_q2d(stream.pointee.time_base)
    let indexed = indexedSpan.map { Double($0) * unit }
    guard declared != handoff_av_no_time(), declared > 0 else { return indexed }
    // A table that goes on after the declared end contradicts it.
    let seconds = Double(declared) * unit
    guard let indexed, indexed > seconds * 1.05 + 1 else { return seconds }
    return indexed
  }

  /// From the first to the last indexed packet, with the last one's share, in the stream's units.
  private var indexedSpan: Int64? {
    let count = avformat_index_get_entries_count(stream)
    guard kind != .avi, count > 1 else { return nil }
    let first = handoff_av_entry(stream, 0).time
    let last = handoff_av_entry(stream, count - 1).time
    let (span, overflow) = last.subtractingReportingOverflow(first)
    guard !overflow, span > 0, span < .max / 2 else { return nil }
    return span + span / Int64(count - 1)
  }
}
