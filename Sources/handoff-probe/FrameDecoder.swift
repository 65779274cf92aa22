import CAVFormat
import Glibc

/// Decodes packets until one frame comes out.
enum FrameDecoder {
  /// How it went.
  enum Outcome {
    case decoded
    /// libavcodec has no decoder for it: the receiver has to know.
    case noDecoder
    case nothing
  }

  private static let packetLimit = 150

  static func firstFrame(of stream: VideoStream, in file: VideoFile) -> Outcome {
    guard let decoder = avcodec_find_decoder(stream.parameters.pointee.codec_id) else {
      return .noDecoder
    }
    guard let context = avcodec_alloc_context3(decoder) else { return .nothing }
    defer { handoff_av_free_codec(context) }
    guard let frame = av_frame_alloc() else { return .nothing }
    defer { handoff_av_free_frame(frame) }
    context.pointee.thread_count = 1
    guard avcodec_parameters_to_context(context, stream.parameters) >= 0,
      avcodec_open2(context, decoder, nil) >= 0
    else { return .nothing }
    var isDecoded = false
    file.readPackets(of: stream, limit: packetLimit) { packet in
      // An error in one packet says nothing of the next: a recording may begin inside a picture group.
      _ = avcodec_send_packet(context, packet)
      isDecoded = avcodec_receive_frame(context, frame) >= 0
      return !isDecoded
    }
    if !isDecoded {
      _ = avcodec_send_packet(context, nil)
      isDecoded = avcodec_receive_frame(context, frame) >= 0
    }
    return isDecoded ? .decoded : .nothing
  }
}
