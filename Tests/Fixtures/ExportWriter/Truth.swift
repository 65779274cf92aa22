import Digests
import Glibc
import LinuxSystem
import Paths
import Synchronization

/// What the writers have done, one line each: milliseconds, event, path, digest, scenario.
///
/// `ready` is written right before the step that makes a version whole, `ended` after the writer has put
/// an end to it, `awaited` if it was left alone until the broker had it; `never` names what no broker
/// may take, `unprovable` what a killed writer left in a format without an end mark.
final class Truth: Sendable {
  enum Event: String {
    case ready, ended, awaited, never, unprovable
  }

  private let file: FileDescriptor
  /// Numbers the videos.
  private let counter = Atomic<UInt64>(0)

  init(_ path: BytePath) throws {
    file = try FileDescriptor.open(path, O_WRONLY | O_CREAT | O_APPEND, mode: 0o644)
  }

  func nextNumber() -> UInt64 { counter.wrappingAdd(1, ordering: .relaxed).newValue }

  func tell(_ event: Event, _ path: BytePath, _ digest: String, _ scenario: String) throws {
    var time = timespec()
    clock_gettime(CLOCK_REALTIME, &time)
    let milliseconds = time.tv_sec * 1000 + time.tv_nsec / 1_000_000
    // One write of few bytes to a file opened for appending: lines do not mix.
    try file.write(
      Array("\(milliseconds)\t\(event)\t\(path.lossyText)\t\(digest)\t\(scenario)\n".utf8)
    )
  }

  static func digest(_ bytes: [UInt8]) throws -> String {
    try SHA256.digest(of: bytes).map { byte in
      let digits = String(byte, radix: 16)
      return digits.count == 1 ? "0" + digits : digits
    }.joined()
  }
}
