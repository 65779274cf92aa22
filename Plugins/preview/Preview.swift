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
  let ffmpeg: FFmpeg
  /// Where previews go.
  let folder: BytePath
  /// The same after a crash, so that nothing is left lying.
  let temporaryName: String

  /// Makes it.
  ///
  /// - Parameter progress: told the part that is done, 0 to 1, and what is being done.
  /// - Returns: its folder, named after the asset.
  /// - Throws: `ResultError`; `CancellationError`.
  func make(_ progress: @Sendable (Double, String) async -> Void) async throws -> BytePath {
    let place = PreviewFolder(
      place: folder.appending(asset.localIdentifier.uuid),
      temporary: folder.appending(temporaryName)
    )
    do {
      try await place.begin()
      let stills = Stills(asset: asset, ffmpeg: ffmpeg, folder: place.temporary)
      let count = try await stills.take { await progress($0 * 0.8, "taking stills") }
      await progress(0.8, "making the poster")
      try await stills.makePoster(Self.poster)
      await progress(0.9, "making the contact sheet")
      try await stills.makeContactSheet(Self.contactSheet, of: count)
      let page = PreviewPage(title: title, asset: asset)
      try await place.publish(page: Array(page.html.utf8), [Self.poster, Self.contactSheet])
      return place.place
    } catch {
      await place.abandon()
      throw failure(error)
    }
  }

  /// Nothing of a preview that failed is left.
  private func failure(_ error: any Error) -> any Error {
    switch error {
    case let error as FFmpegFailure:
      return ResultError(
        .unsupportedMedia,
        "\(error)",
        effect: .none,
        localIdentifier: asset.localIdentifier
      )
    case let error as SystemError:
      let isDenied = [EROFS, EACCES, EPERM].contains(error.errno)
      return ResultError(
        .destinationUnavailable,
        "\(error)",
        effect: .none,
        retry: error.mayPass && !isDenied ? .later : .afterFix,
        remedy: isDenied ? "Let the destination write there: its `write` list." : nil
      )
    default:
      return error
    }
  }
}
