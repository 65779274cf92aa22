import HandoffPluginKit
import HandoffProtocol
import Paths

/// An asset as ffmpeg sees it: what is in it, and which tracks are looked at.
struct Source: Sendable {
  let path: BytePath
  let report: MediaReport
  /// The index of the picture track among all tracks.
  let pictureTrack: Int
  /// The picture track.
  var video: VideoFacts
  /// The indices of the sound tracks that are heard: none, one, or two mono tracks as left and right.
  var soundTracks: [Int]
  /// Their places among the sound tracks, from 0.
  var soundPlaces: [Int]
  /// Bytes of the file.
  let bytes: Int64
  /// Seconds; nil where nobody knows yet.
  var duration: Double?

  /// Takes the first picture track and the first sound.
  ///
  /// - Throws: `ResultError` where there is no picture, or none that this ffmpeg can decode.
  init(_ report: MediaReport, of asset: GrantedAsset) throws(ResultError) {
    func refuse(_ message: String, remedy: String? = nil) -> ResultError {
      ResultError(
        .unsupportedMedia,
        message,
        effect: .none,
        remedy: remedy,
        localIdentifier: asset.localIdentifier
      )
    }
    guard let stream = report.video.first, let video = report.videoFacts.first else {
      throw refuse("no picture in the file: there is nothing to preview")
    }
    guard stream.codec != nil else {
      throw refuse(
        "ffmpeg has no decoder for \(stream.codecName)",
        remedy: "Install an ffmpeg that knows it, or export in another codec."
      )
    }
    // ffprobe, too, keeps the bound, and then knows no size.
    guard video.width > 0, video.height > 0 else {
      throw refuse(
        "the picture's size is not known, or more than \(FFmpeg.mostPixels / 1_000_000) million pixels",
        remedy: "Export it smaller: at most 8192 × 8192."
      )
    }
    path = asset.path
    bytes = asset.size
    self.report = report
    pictureTrack = stream.index
    self.video = video
    duration = asset.duration.flatMap { $0.isFinite && $0 > 0 ? $0 : nil }
    soundPlaces = Self.heard(report.audio)
    soundTracks = soundPlaces.map { report.audio[$0].index }
  }

  var size: PictureSize { PictureSize(width: video.displayWidth, height: video.displayHeight) }

  /// In words.
  var soundName: String {
    let numbers = soundPlaces.map { "\($0 + 1)" }
    return (numbers.count == 1 ? "track " : "tracks ") + numbers.joined(separator: " and ")
  }

  /// The first track; or, as broadcasters deliver it, the first two where both are mono and alike.
  private static func heard(_ tracks: [MediaReport.Stream]) -> [Int] {
    let usable = tracks.indices.filter { index in
      tracks[index].codec != nil && (tracks[index].channels ?? 0) > 0
        && tracks[index].sampleRate.flatMap { Int($0) } ?? 0 > 0
    }
    guard let first = usable.first else { return [] }
    guard let second = usable.dropFirst().first else { return [first] }
    let (left, right) = (tracks[first], tracks[second])
    let isPair =
      left.channels == 1 && right.channels == 1 && left.codec == right.codec
      && left.sampleRate == right.sampleRate && left.tags["language"] == right.tags["language"]
      && left.tags["title"] == right.tags["title"]
    return isPair ? [first, second] : [first]
  }
}
