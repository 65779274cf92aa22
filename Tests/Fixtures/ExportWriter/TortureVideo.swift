import Glibc
import HandoffTestSupport
import LinuxSystem
import Paths

/// The kinds of video that the writers export, each file with bytes that no other has.
///
/// The number that tells them apart lies within the container (a comment; null packets in a transport
/// stream), so that no part of a file is a whole file.
enum TortureVideo: String, CaseIterable, Sendable {
  case mp4
  case faststart
  case mov
  case mkv
  case webm
  case avi
  case transportStream = "ts"
  case flash = "flv"
  case live = "live.mkv"

  /// Of what shows its own end.
  static let provable = allCases.filter { !$0.declaresNoEnd }
  static let withoutEnd = allCases.filter(\.declaresNoEnd)

  var declaresNoEnd: Bool { sample.declaresNoEnd }

  var ending: String {
    switch self {
    case .faststart: "mp4"
    case .live: "mkv"
    default: rawValue
    }
  }

  private var sample: SampleVideo {
    switch self {
    case .mp4: .mp4
    case .faststart: .faststart
    case .mov: .quickTime
    case .mkv: .matroska
    case .webm: .webm
    case .avi: .avi
    case .transportStream: .transportStream
    case .flash: .flash
    case .live: .liveMatroska
    }
  }

  private static let placeholder = "HANDOFF-TORTURE-0000000000000000"

  /// A file of this kind with a number's place in it.
  func template(in scratch: BytePath) async throws -> [UInt8] {
    let source = try await sample.path()
    let target = scratch.appending("template-\(rawValue)")
    let line = """
      ffmpeg -nostdin -v error -y -i '\(source.lossyText)' -c copy \
      -metadata comment=\(Self.placeholder) \(options) > '\(target.lossyText)'
      """
    guard await shell(line.replacing("OUT", with: target.lossyText)) == 0 else {
      throw TestSupportError("ffmpeg failed: \(line)")
    }
    return try FileDescriptor.open(target, O_RDONLY).readAll(limit: 1 << 26)
  }

  private var options: String {
    switch self {
    case .mp4: "-f mp4 OUT"
    case .faststart: "-movflags +faststart -f mp4 OUT"
    case .mov: "-f mov OUT"
    case .mkv: "-write_crc32 0 -f matroska OUT"
    case .webm: "-write_crc32 0 -f webm OUT"
    case .avi: "-f avi OUT"
    case .transportStream: "-f mpegts OUT"
    case .flash: "-f flv OUT"
    case .live: "-write_crc32 0 -f matroska -"
    }
  }

  /// The template with a number in it.
  func bytes(_ number: UInt64, _ template: [UInt8]) throws -> [UInt8] {
    let digits = String(number, radix: 16)
    let text = Array((String(repeating: "0", count: 16 - digits.count) + digits).utf8)
    guard self != .transportStream else {
      // A null packet between the others, which every reader skips.
      let packet = [0x47, 0x1F, 0xFF, 0x10] + text + [UInt8](repeating: 0xFF, count: 188 - 20)
      return Array(template[..<(188 * 8)]) + packet + template[(188 * 8)...]
    }
    let place = Array(Self.placeholder.utf8)
    guard let start = template.firstRange(of: place)?.upperBound else {
      throw TestSupportError("no place for a number in \(rawValue)")
    }
    var bytes = template
    bytes.replaceSubrange((start - 16)..<start, with: text)
    return bytes
  }
}
