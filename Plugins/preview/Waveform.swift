import Glibc
import LinuxSystem
import Paths

/// The sound of the whole video as a picture: peaks, and the mean level inside them.
struct Waveform: Sendable {
  static let name = "waveform.png"
  static let size = PictureSize(width: 1200, height: 160)
  private static let raw = "waveform.pam"

  let pieces: [SoundReading.Piece]

  /// Draws it in a folder.
  func draw(in folder: BytePath, ffmpeg: FFmpeg) async throws {
    let thread = BlockingThread("preview.waveform")
    let path = folder.appending(Self.raw)
    try await thread.run {
      let file = try FileDescriptor.open(path, O_WRONLY | O_CREAT | O_TRUNC, mode: 0o644)
      try file.write(picture)
      try file.close()
    }
    let input: [BytePath] = ["-f", "image2", "-i", BytePath(Self.raw), "-frames:v", "1"]
    try await ffmpeg.run(
      input + ["-f", "image2", "-update", "1", BytePath(Self.name)],
      in: folder
    )
  }

  /// Netpbm's format with transparency; see pam(5).
  private var picture: [UInt8] {
    let (width, height) = (Self.size.width, Self.size.height)
    let header =
      "P7\nWIDTH \(width)\nHEIGHT \(height)\nDEPTH 4\nMAXVAL 255\nTUPLTYPE RGB_ALPHA\nENDHDR\n"
    var bytes = [UInt8](repeating: 0, count: width * height * 4)
    for x in 0..<width {
      let column = column(x, of: width)
      fill(&bytes, x, column.peak, [0x5B, 0x8D, 0xEF, 0xA0])
      fill(&bytes, x, column.level, [0x3B, 0x6F, 0xE0, 0xFF])
    }
    return Array(header.utf8) + bytes
  }

  private func column(_ x: Int, of width: Int) -> SoundReading.Piece {
    let first = x * pieces.count / width
    let last = max(first + 1, (x + 1) * pieces.count / width)
    var column = SoundReading.Piece(start: 0)
    for piece in pieces[first..<min(last, pieces.count)] {
      column.peak = max(column.peak, piece.peak)
      column.level = max(column.level, piece.level)
    }
    return column
  }

  /// A stroke on both sides of the middle, at least one point of it.
  private func fill(_ bytes: inout [UInt8], _ x: Int, _ part: Float, _ color: [UInt8]) {
    let half = Self.size.height / 2
    let reach = min(half, max(1, Int((Float(half) * min(1, part)).rounded())))
    for y in (half - reach)..<(half + reach) {
      let at = (y * Self.size.width + x) * 4
      bytes.replaceSubrange(at..<(at + 4), with: color)
    }
  }
}
