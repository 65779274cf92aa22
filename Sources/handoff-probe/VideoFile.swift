import CAVFormat
import ContainerChecks
import Glibc
import LinuxSystem

/// One file opened with libavformat.
///
/// Its C structures do not leave this file and `VideoStream`.
final class VideoFile {
  /// Why a header could not be read.
  struct OpenError: Error {
    /// An AVERROR code.
    let code: CInt
    /// The errno of a failed read; 0 if the bytes could be read.
    let readError: CInt

    /// The failure lies in this process or the disk, not in the file.
    var isOurs: Bool { readError != 0 || code == -ENOMEM }

    var text: String {
      var buffer = [CChar](repeating: 0, count: 128)
      av_strerror(code, &buffer, buffer.count)
      return String(decoding: buffer.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    }
  }

  private let reader: UnsafeMutablePointer<HandoffAVReader>
  private let context: UnsafeMutablePointer<AVFormatContext>
  private let kind: ContainerKind
  private var peeked: UnsafeMutablePointer<AVPacket>?

  init(_ descriptor: FileDescriptor, size: Int64, kind: ContainerKind) throws(OpenError) {
    reader = .allocate(capacity: 1)
    reader.initialize(
      to: HandoffAVReader(descriptor: descriptor.rawValue, size: size, position: 0, error: 0)
    )
    self.kind = kind
    var result: CInt = 0
    guard let context = handoff_av_open(reader, kind.demuxer, &result) else {
      let error = OpenError(code: result, readError: reader.pointee.error)
      reader.deallocate()
      throw error
    }
    self.context = context
  }

  deinit {
    if let peeked { handoff_av_free_packet(peeked) }
    handoff_av_close(context)
    reader.deallocate()
  }

  /// The errno of the first read that failed; 0 if none did.
  var readError: CInt { reader.pointee.error }

  var streams: [VideoStream] {
    (0..<Int(context.pointee.nb_streams)).compactMap { index in
      context.pointee.streams?[index].map { VideoStream($0, index: index, kind: kind) }
    }
  }

  /// The video that is played: the first that is not a picture.
  var video: VideoStream? { streams.first { $0.isVideo } }

  /// Reads and decodes packets until each stream's parameters are known: slow.
  func findStreamInfo() {
    context.pointee.probesize = 4 << 20
    context.pointee.max_analyze_duration = 2_000_000
    // What it did not find is seen in the streams; a failure says no more.
    _ = avformat_find_stream_info(context, nil)
  }

  /// The header's duration in seconds; nil where it has none.
  var declaredDuration: Double? {
    let value = context.pointee.duration
    guard value != handoff_av_no_time(), value > 0 else { return nil }
    return Double(value) / Double(AV_TIME_BASE)
  }

  /// The bytes of the next packet of a stream, which is read again after; none at the end of the file.
  func peekPacket(of stream: VideoStream) -> [UInt8] {
    var bytes: [UInt8] = []
    readPackets(of: stream, limit: 1) { packet in
      bytes = Array(
        UnsafeBufferPointer(start: packet.pointee.data, count: Int(packet.pointee.size))
      )
      peeked = av_packet_clone(packet)
      return false
    }
    return bytes
  }

  /// Reads packets of one stream from the current position, until the body says stop (false), the file
  /// ends, or a limit of packets is reached.
  func readPackets(
    of stream: VideoStream,
    limit: Int,
    _ body: (UnsafeMutablePointer<AVPacket>) -> Bool
  ) {
    var seen = 0
    if let packet = peeked {
      peeked = nil
      defer { handoff_av_free_packet(packet) }
      seen = 1
      guard body(packet) else { return }
    }
    guard let packet = av_packet_alloc() else { return }
    defer { handoff_av_free_packet(packet) }
    // Other streams' packets count too: a file of sound alone must not be read to its end.
    for _ in 0..<(limit * 20) where seen < limit {
      guard av_read_frame(context, packet) >= 0 else { return }
      defer { av_packet_unref(packet) }
      guard Int(packet.pointee.stream_index) == stream.index else { continue }
      seen += 1
      if !body(packet) { return }
    }
  }
}

extension ContainerKind {
  /// libavformat's name of the demuxer; no other one is ever used.
  fileprivate var demuxer: String {
    switch self {
    case .isoMedia: "mov"
    case .matroska: "matroska"
    case .avi: "avi"
    case .transportStream: "mpegts"
    case .flash: "flv"
    case .programStream: "mpeg"
    case .advancedSystems: "asf"
    case .ogg: "ogg"
    case .materialExchange: "mxf"
    }
  }
}
