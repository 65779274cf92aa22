import HandoffPluginKit
import HandoffProtocol

/// What the installed ffmpeg can do, asked for when it is first needed: on a busy machine asking takes
/// longer than the broker waits for a plugin's introduction.
actor FeatureCache {
  private let ffmpeg: FFmpeg
  private let settings: PreviewSettings
  private var asked: Task<FFmpegFeatures, any Error>?

  init(ffmpeg: FFmpeg, settings: PreviewSettings) {
    self.ffmpeg = ffmpeg
    self.settings = settings
  }

  /// The features; asked for again where that did not work.
  ///
  /// - Throws: `ResultError`.
  func features() async throws(ResultError) -> FFmpegFeatures {
    let asked =
      self.asked
      ?? Task { [ffmpeg, settings] in
        try await FFmpegFeatures(of: ffmpeg, font: settings.font)
      }
    self.asked = asked
    do {
      return try await asked.value
    } catch {
      self.asked = nil
      if error is FFmpegFailure {
        throw .notConfigured("\(error)", remedy: "Install the package ffmpeg anew.")
      }
      throw ResultError(.destinationUnavailable, "\(error)", effect: .none, retry: .later)
    }
  }

  /// The same for making previews.
  ///
  /// - Throws: `ResultError`, also where the proxy's encoder is missing.
  func usable() async throws(ResultError) -> FFmpegFeatures {
    let features = try await features()
    guard settings.proxy, !features.hasX264 else { return features }
    throw .notConfigured(
      "this ffmpeg has no encoder libx264",
      remedy: "Install Debian's package ffmpeg, or set settings.proxy to false."
    )
  }
}
