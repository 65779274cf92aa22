import LinuxSystem
import Paths
import Synchronization

/// Whether a video is interlaced that does not say so: a few seconds of it are looked at.
struct FieldSample: Sendable {
  /// The others are hardly ever interlaced, or say so.
  private static let codecs: Set<String> = [
    "dnxhd", "dvvideo", "ffv1", "h264", "huffyuv", "mjpeg", "mpeg1video", "mpeg2video", "mpeg4",
    "prores", "rawvideo", "utvideo", "v210",
  ]
  private static let frames = 120
  private static let heights = 240...1088

  let source: Source
  let ffmpeg: FFmpeg
  let folder: BytePath

  /// The field order as ffprobe would name it, `tt` or `bb`; nil for a progressive one.
  func order() async throws -> String? {
    let video = source.video
    guard video.fieldOrder == nil, Self.codecs.contains(video.codec),
      Self.heights.contains(video.height)
    else { return nil }
    let counts = FieldCounts()
    let middle = (source.duration ?? 0) / 3
    let seek: [BytePath] = middle > 1 ? ["-ss", BytePath("\(middle)")] : []
    try await ffmpeg.run(
      ffmpeg.input(source.path, before: ["-noautorotate"] + seek) + [
        "-map", BytePath("0:\(source.pictureTrack)"), "-frames:v", BytePath("\(Self.frames)"),
        "-vf", "idet,metadata=print:file='pipe\\:4'", "-f", "null", "-",
      ],
      in: folder,
      readers: [4: { counts.take($0) }]
    )
    return counts.order
  }
}

/// The filter's counts: the last ones are those of all frames.
private final class FieldCounts: Sendable {
  private let counts = Mutex<[String: Double]>([:])

  var order: String? {
    counts.withLock { counts in
      let top = counts["tff"] ?? 0
      let bottom = counts["bff"] ?? 0
      let isInterlaced = top + bottom >= 10 && top + bottom > 2 * (counts["progressive"] ?? 0)
      return isInterlaced ? top >= bottom ? "tt" : "bb" : nil
    }
  }

  func take(_ line: String) {
    let prefix = "lavfi.idet.multiple."
    guard case .value(let key, let text) = MetadataLine(line), key.hasPrefix(prefix) else { return }
    counts.withLock { $0[String(key.dropFirst(prefix.count))] = Double(text) }
  }
}
