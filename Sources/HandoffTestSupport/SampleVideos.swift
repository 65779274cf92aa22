import Glibc
import LinuxSystem
package import Paths

/// Small real videos of every container kind, made once with ffmpeg and kept in a cache folder.
///
/// Each lasts two seconds: 320x240, 25 frames a second, with a tone where the container takes one.
package enum SampleVideo: String, CaseIterable, Sendable {
  /// As ffmpeg writes it by default: `moov` last.
  case mp4 = "moov-end.mp4"
  /// `moov` first.
  case faststart = "faststart.mp4"
  case fragmented = "fragmented.mp4"
  /// Fragments without the `mfra` box that ends them.
  case openFragments = "open-fragments.mp4"
  /// QuickTime with uncompressed sound.
  case quickTime = "quicktime.mov"
  case mobile = "mobile.3gp"
  case matroska = "matroska.mkv"
  /// Written to a pipe: the segment has no size.
  case liveMatroska = "live.mkv"
  case webm = "web.webm"
  case avi = "interleaved.avi"
  case transportStream = "stream.ts"
  /// With time stamps before each packet, as cameras write it.
  case cameraStream = "camera.m2ts"
  case flash = "flash.flv"
  case programStream = "program.mpg"
  case ogg = "theora.ogv"

  /// The format declares no end: a copy that stopped at a lucky place cannot be told from a whole one.
  package var declaresNoEnd: Bool {
    switch self {
    case .openFragments, .liveMatroska, .transportStream, .cameraStream, .flash, .programStream,
      .ogg:
      true
    case .mp4, .faststart, .fragmented, .quickTime, .mobile, .matroska, .webm, .avi:
      false
    }
  }

  /// The file, made if it is not there yet.
  ///
  /// - Throws: ``TestSupportError`` when ffmpeg is not there or fails.
  nonisolated(nonsending) package func path() async throws -> BytePath {
    let folder = Self.cache
    let path = folder.appending(rawValue)
    if access(path.nulTerminated, R_OK) == 0 { return path }
    try Directory.create(folder, permissions: 0o755)
    // Made under a name of this process and renamed, so that two test runs do not meet.
    let draft = folder.appending("\(getpid())-\(UInt32.random(in: .min ... .max))-\(rawValue)")
    let input =
      "-f lavfi -i testsrc=size=320x240:rate=25:duration=2 -f lavfi -i sine=duration=2"
    let output = self == .liveMatroska ? "- > '\(draft.displayText)'" : "'\(draft.displayText)'"
    let line = "ffmpeg -nostdin -v error -y \(input) \(options) \(output)"
    guard await shell(line) == 0 else { throw TestSupportError("ffmpeg failed: \(line)") }
    guard rename(draft.nulTerminated, path.nulTerminated) == 0 else {
      throw TestSupportError("rename \(path.displayText): errno \(errno)")
    }
    return path
  }

  private static var cache: BytePath {
    let root = environmentValue("HANDOFF_SAMPLES") ?? environmentValue("TMPDIR") ?? "/tmp"
    return BytePath(root).appending("handoff-samples-1-\(getuid())")
  }

  private static let h264 = "-c:v libx264 -preset ultrafast -g 25 -pix_fmt yuv420p"

  private var options: String {
    switch self {
    case .mp4: "\(Self.h264) -c:a aac"
    case .faststart: "\(Self.h264) -c:a aac -movflags +faststart"
    case .fragmented: "\(Self.h264) -c:a aac -movflags +frag_keyframe+empty_moov"
    case .openFragments:
      "\(Self.h264) -c:a aac -movflags +frag_keyframe+empty_moov+skip_trailer"
    case .quickTime: "\(Self.h264) -c:a pcm_s16le"
    case .mobile: "-c:v mpeg4 -c:a aac"
    case .matroska: "\(Self.h264) -c:a libopus"
    case .liveMatroska: "\(Self.h264) -c:a aac -f matroska"
    case .webm: "-c:v libvpx-vp9 -deadline realtime -cpu-used 8 -b:v 200k -c:a libopus"
    case .avi: "-c:v mpeg4 -c:a mp3"
    case .transportStream: "\(Self.h264) -c:a aac -f mpegts"
    case .cameraStream: "\(Self.h264) -c:a ac3 -f mpegts -mpegts_m2ts_mode 1"
    case .flash: "\(Self.h264) -c:a aac -ar 44100 -f flv"
    case .programStream: "-c:v mpeg2video -c:a mp2 -f vob"
    case .ogg: "-c:v libtheora -c:a libvorbis -f ogg"
    }
  }
}
