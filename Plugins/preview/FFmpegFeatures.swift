import Glibc
import LinuxSystem
import Paths
import Synchronization

/// What the installed ffmpeg can do, and the fonts that are there for it.
struct FFmpegFeatures: Sendable {
  private static let fontFolder: BytePath = "/usr/share/fonts"
  private static let fonts = [
    "truetype/dejavu/DejaVuSans.ttf", "truetype/liberation/LiberationSans-Regular.ttf",
    "truetype/noto/NotoSans-Regular.ttf", "truetype/freefont/FreeSans.ttf",
    "dejavu-sans-fonts/DejaVuSans.ttf", "TTF/DejaVuSans.ttf",
  ]

  /// For example `5.1.9-0+deb12u1`.
  let version: String
  let filters: Set<String>
  let encoders: Set<String>
  /// A font file for burnt-in times; nil where there is none, or ffmpeg cannot draw text.
  let font: BytePath?

  /// Asks it; the font is the setting, nil for the usual places.
  ///
  /// - Throws: ``FFmpegFailure``; `SystemError`.
  init(of ffmpeg: FFmpeg, font: BytePath?) async throws {
    let version = try await Self.lines(of: ffmpeg, "-version").first ?? ""
    self.version =
      version.split(separator: " ").dropFirst(2).first.map(String.init) ?? version
    filters = Self.names(try await Self.lines(of: ffmpeg, "-filters"))
    encoders = Self.names(try await Self.lines(of: ffmpeg, "-encoders"))
    let candidates = font.map { [$0] } ?? Self.fonts.map { Self.fontFolder.appending($0) }
    let found = candidates.first { access($0.nulTerminated, R_OK) == 0 }
    self.font = filters.contains("drawtext") ? found : nil
  }

  var hasToneMapping: Bool { filters.isSuperset(of: ["zscale", "tonemap"]) }
  var hasX264: Bool { encoders.contains("libx264") }

  private static func lines(of ffmpeg: FFmpeg, _ option: BytePath) async throws -> [String] {
    var run = FFmpegRun(ffmpeg.program)
    run.arguments = ["-hide_banner", "-v", "error", option]
    let said = SaidLines()
    run.readers[1] = { said.take($0) }
    _ = try await ffmpeg.perform(run, in: "/")
    return said.lines
  }

  /// The second word of each line: ` T.C drawtext  V->V  Draw text …`.
  private static func names(_ lines: [String]) -> Set<String> {
    Set(lines.compactMap { $0.split(separator: " ").dropFirst().first.map(String.init) })
  }
}

private final class SaidLines: Sendable {
  private let said = Mutex<[String]>([])

  var lines: [String] { said.withLock { $0 } }

  func take(_ line: String) { said.withLock { $0.append(line) } }
}
