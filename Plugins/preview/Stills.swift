import HandoffPluginKit
import LinuxSystem
import Paths

/// Single pictures from an asset, and what is made of them.
///
/// Each is taken after a seek of its own, so a long video costs no more than a short one. ffmpeg turns
/// the picture as the file says.
struct Stills: Sendable {
  private static let most = 12
  private static let columns = 4
  /// Square pixels, at most 1280 wide, never enlarged.
  private static let scale: BytePath = "scale='min(1280,max(1,trunc(iw*sar)))':-2,setsar=1"
  /// Drops pictures of which half or more is black.
  private static let notBlack = "blackframe=0,metadata=select:key=lavfi.blackframe.pblack:value=50"
  private static let names: BytePath = "still%02d.jpg"

  let asset: GrantedAsset
  let ffmpeg: FFmpeg
  /// Where the pictures go.
  let folder: BytePath

  /// Takes pictures from all over the asset and returns how many there are.
  ///
  /// A seek near the end, or in a file whose duration is not right, gives none: then there are fewer.
  func take(_ progress: @Sendable (Double) async -> Void) async throws -> Int {
    var count = 0
    for (index, moment) in moments.enumerated() {
      await progress(Double(index) / Double(moments.count))
      let seconds = BytePath("\(moment)")
      if try await take(["-ss", seconds], as: count) { count += 1 }
    }
    if count > 0 { return count }
    // One frame, or a time that nobody knows: the first picture that there is.
    if try await take([], as: 0) { return 1 }
    throw FFmpegFailure(status: .exited(0), line: "no picture in the file")
  }

  /// The picture that is most like the others and not black; of black ones only, any.
  func makePoster(_ name: String) async throws {
    let all: [BytePath] = ["-framerate", "1", "-i", Self.names]
    let poster = BytePath(name)
    let choice = "\(Self.notBlack):function=less,thumbnail=\(Self.most)"
    try await ffmpeg.run(all + picture(BytePath(choice), poster), in: folder)
    if try FileStatus.of(folder.appending(poster)) == nil {
      try await ffmpeg.run(all + picture(BytePath("thumbnail=\(Self.most)"), poster), in: folder)
    }
  }

  /// All pictures, at least one, on one sheet.
  func makeContactSheet(_ name: String, of count: Int) async throws {
    let columns = min(count, Self.columns)
    let rows = (count + columns - 1) / columns
    let sheet = "scale=320:-2,tile=\(columns)x\(rows):padding=4:margin=4"
    let all: [BytePath] = ["-framerate", "1", "-i", Self.names]
    try await ffmpeg.run(all + picture(BytePath(sheet), BytePath(name)), in: folder)
  }

  /// Where pictures are taken, in seconds: in the middle of equal parts, two parts a second at most.
  private var moments: [Double] {
    guard let duration = asset.duration, duration.isFinite, duration > 0 else { return [] }
    let count = min(Self.most, max(1, Int(min(duration, 60)) * 2))
    return (0..<count).map { (Double($0) + 0.5) * duration / Double(count) }
      .map { ($0 * 1000).rounded(.down) / 1000 }
  }

  /// Takes one picture; false if there is none.
  private func take(_ seek: [BytePath], as number: Int) async throws -> Bool {
    let name = BytePath("still\(number < 10 ? "0" : "")\(number).jpg")
    let input: [BytePath] = ["-i", asset.path, "-map", "0:v:0", "-an", "-sn", "-dn"]
    try await ffmpeg.run(seek + input + picture(Self.scale, name), in: folder)
    return try FileStatus.of(folder.appending(name)) != nil
  }

  private func picture(_ filter: BytePath, _ name: BytePath) -> [BytePath] {
    ["-vf", filter, "-frames:v", "1", "-q:v", "3", "-f", "image2", "-update", "1", "-y", name]
  }
}
