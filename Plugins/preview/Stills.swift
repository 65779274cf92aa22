import HandoffPluginKit
import LinuxSystem
import Paths

/// Single pictures from an asset, and what is made of them.
///
/// Each is taken after a seek of its own, so a long video costs no more than a short one. ffmpeg turns
/// the picture as the file says.
struct Stills: Sendable {
  private static let most = 12
  /// The longer side of a picture on the sheet, and the space around each.
  private static let cell = 320
  private static let gap = 4

  /// One picture that was taken.
  struct Still: Sendable, Hashable {
    let name: String
    /// Seconds; nil where it is just the first picture of the file.
    let time: Double?
  }

  let source: Source
  let ffmpeg: FFmpeg
  let features: FFmpegFeatures
  /// Where the pictures go.
  let folder: BytePath
  /// Of each picture.
  let size: PictureSize

  /// Takes pictures from all over the asset.
  ///
  /// A seek near the end, in a damaged part, or in a file whose duration is not right, gives none: then
  /// there are fewer.
  func take(_ progress: @Sendable (Double) async -> Void) async throws -> [Still] {
    var stills: [Still] = []
    var failure: FFmpegFailure?
    for (index, moment) in moments.enumerated() {
      await progress(Double(index) / Double(moments.count))
      let still = Still(name: name(stills.count), time: moment)
      do {
        if try await take(still, ["-ss", BytePath("\(moment)")]) { stills.append(still) }
      } catch let error as FFmpegFailure where !error.isOutOfSpace {
        failure = error
      }
    }
    if !stills.isEmpty { return stills }
    // One frame, or a time that nobody knows: the first picture that there is.
    let first = Still(name: name(0), time: nil)
    if try await take(first, []) { return [first] }
    throw failure ?? FFmpegFailure(status: .exited(0), line: "no picture in the file")
  }

  /// All pictures, at least one, on one sheet, with their times where ffmpeg can write.
  func makeContactSheet(_ name: String, of stills: [Still]) async throws -> PictureSize {
    let cell = size.scaled(toLonger: Self.cell)
    let most = cell.width >= cell.height ? 4 : 6
    let rows = (stills.count + most - 1) / most
    let columns = (stills.count + rows - 1) / rows
    let filters =
      ["scale=\(cell.width):\(cell.height)"] + captions(stills, cell)
      + ["tile=\(columns)x\(rows):padding=\(Self.gap):margin=\(Self.gap)"]
    let all: [BytePath] = ["-framerate", "1", "-i", "still%02d.jpg", "-vf"]
    let sheet = BytePath(filters.joined(separator: ","))
    try await ffmpeg.run(all + [sheet] + Self.picture(name), in: folder)
    return PictureSize(
      width: columns * (cell.width + Self.gap) + Self.gap,
      height: rows * (cell.height + Self.gap) + Self.gap
    )
  }

  /// How good each picture is as the poster.
  func looks(of stills: [Still]) async throws -> [PictureLook] {
    let gathered = GatheredLooks()
    let filter =
      "scale=160:-2,format=yuv420p,signalstats"
      + [
        ("entropy", "entropy"), ("blurdetect", "blurdetect"),
      ].filter { features.filters.contains($0.0) }.map { ",\($0.1)" }.joined()
      + ",metadata=print:file='pipe\\:4'"
    try await ffmpeg.run(
      ["-framerate", "1", "-i", "still%02d.jpg", "-vf", BytePath(filter), "-f", "null", "-"],
      in: folder,
      readers: [4: { gathered.take($0) }]
    )
    return gathered.looks
  }

  /// Where pictures are taken, in seconds: in the middle of equal parts, two parts a second at most.
  private var moments: [Double] {
    guard let duration = source.duration else { return [] }
    let count = min(Self.most, max(1, Int(min(duration, 60) * 2)))
    return (0..<count).map { (Double($0) + 0.5) * duration / Double(count) }
      .map { ($0 * 1000).rounded(.down) / 1000 }
  }

  private func name(_ number: Int) -> String { "still\(number < 10 ? "0" : "")\(number).jpg" }

  /// Takes one picture; false if there is none.
  private func take(_ still: Still, _ seek: [BytePath]) async throws -> Bool {
    let filters = PictureFilters(video: source.video, size: size, features: features)
    let map: [BytePath] = [
      "-map", BytePath("0:\(source.pictureTrack)"), "-vf", BytePath(filters.stillChain),
    ]
    try await ffmpeg.run(
      ffmpeg.input(source.path, before: seek) + map + Self.picture(still.name),
      in: folder
    )
    return try FileStatus.of(folder.appending(still.name)) != nil
  }

  /// One filter for each picture: `0:01:23` in its corner.
  private func captions(_ stills: [Still], _ cell: PictureSize) -> [String] {
    guard let font = features.font else { return [] }
    let height = min(16, max(9, min(cell.width, cell.height) / 9))
    let isShort = (source.duration ?? 0) < 60
    return stills.enumerated().compactMap { index, still in
      guard let time = still.time else { return nil }
      let text = DrawnText(
        TimeText.clock(time, hasTenths: isShort),
        font: font,
        height: height,
        place: "x=4:y=h-th-5"
      )
      return text.filter + ":enable='eq(n,\(index))'"
    }
  }

  private static func picture(_ name: String) -> [BytePath] {
    ["-frames:v", "1", "-q:v", "3", "-f", "image2", "-update", "1", BytePath(name)]
  }
}
