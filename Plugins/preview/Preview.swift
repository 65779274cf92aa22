import Glibc
import HandoffPluginKit
import HandoffProtocol
import LinuxSystem
import Paths

/// The preview of one asset: made in a folder beside its place, then put there whole.
struct Preview: Sendable {
  static let page = "index.html"
  static let poster = "poster.jpg"
  static let contactSheet = "contact.jpg"

  let asset: GrantedAsset
  let title: String
  let settings: PreviewSettings
  let ffmpeg: FFmpeg
  let features: FFmpegFeatures
  let madeAt: Timestamp
  /// The same after a crash, so that nothing is left lying.
  let temporaryName: String

  /// Makes it.
  ///
  /// - Parameters:
  ///   - progress: told the part that is done, 0 to 1, and what is being done.
  ///   - register: given each file that is a rendition, while nobody else can change it.
  /// - Returns: its folder, named after the asset, and what is known of it.
  /// - Throws: `ResultError`; `CancellationError`.
  func make(
    _ progress: @Sendable (Double, String) async -> Void,
    register: @Sendable (String, BytePath) async throws -> Void
  ) async throws -> (folder: BytePath, facts: PreviewFacts) {
    let place = PreviewFolder(
      place: settings.folder.appending(asset.localIdentifier.uuid),
      temporary: settings.folder.appending(temporaryName)
    )
    do {
      try await place.begin()
      let facts = try await work(place.temporary).make(progress)
      let page = try PreviewPage(facts: facts).html()
      try await register("poster", place.temporary.appending(facts.poster.name))
      if let proxy = facts.proxy, settings.registerDamaged || !facts.isDamaged {
        try await register("proxy", place.temporary.appending(proxy.name))
      }
      try await place.publish(
        page: Array(page.utf8),
        facts: try WireCoder.encode(facts),
        facts.files
      )
      return (place.place, facts)
    } catch {
      await place.abandon()
      throw failure(error)
    }
  }

  private func work(_ folder: BytePath) -> PreviewWork {
    PreviewWork(
      asset: asset,
      title: title,
      settings: settings,
      ffmpeg: ffmpeg,
      features: features,
      madeAt: madeAt,
      folder: folder
    )
  }

  /// Nothing of a preview that failed is left.
  private func failure(_ error: any Error) -> any Error {
    switch error {
    case let error as FFmpegFailure: failure(error)
    case let error as SystemError: failure(error)
    case is DecodingError: refusal(.unsupportedMedia, "ffprobe's answer is not understood")
    default: error
    }
  }

  private func failure(_ error: FFmpegFailure) -> ResultError {
    if error.isOutOfSpace { return refusal(.noSpace, "\(error)", retry: .later) }
    if error.isOutOfTime {
      return refusal(
        .destinationUnavailable,
        "\(error)",
        retry: .afterFix,
        remedy: "Raise settings.cpu_factor, or give it more memory."
      )
    }
    return refusal(.unsupportedMedia, "\(error)")
  }

  private func failure(_ error: SystemError) -> ResultError {
    let isDenied = [EROFS, EACCES, EPERM].contains(error.errno)
    return refusal(
      error.errno == ENOSPC ? .noSpace : .destinationUnavailable,
      "\(error)",
      retry: error.mayPass && !isDenied ? .later : .afterFix,
      remedy: isDenied ? "Let the destination write there: its `write` list." : nil
    )
  }

  private func refusal(
    _ code: ErrorCode,
    _ message: String,
    retry: RetryAdvice = .never,
    remedy: String? = nil
  ) -> ResultError {
    ResultError(
      code,
      message,
      effect: .none,
      retry: retry,
      remedy: remedy,
      localIdentifier: asset.localIdentifier
    )
  }
}

extension PreviewFacts {
  /// Something is missing from the proxy, or not as it was meant: somebody should look before it is
  /// published.
  var isDamaged: Bool {
    findings.contains { $0.severity == .problem && [.damaged, .proxy].contains($0.kind) }
  }

  /// The names of everything but the page and the facts.
  var files: [String] {
    var names = [poster.name, contactSheet.name]
    if let storyboard { names += storyboard.sheets.map(\.name) + [storyboard.track] }
    return names + [proxy?.name, waveform?.name].compactMap { $0 }
  }
}
