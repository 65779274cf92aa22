import LinuxSystem
import Synchronization

/// The lines that a child writes into a pipe.
final class LineStream: Sendable {
  private let reader: PipeReader
  private let ended: AsyncStream<Never>

  /// Takes the reading end; of a line that is longer the rest is left out.
  init(
    _ pipe: FileDescriptor,
    longest: Int,
    _ take: @escaping @Sendable (String) -> Void
  ) throws(SystemError) {
    let splitter = LineSplitter(longest: longest)
    let (ended, ending) = AsyncStream<Never>.makeStream()
    self.ended = ended
    reader = try PipeReader(
      pipe,
      take: { bytes in for line in splitter.lines(bytes) { take(line) } },
      end: {
        if let line = splitter.rest() { take(line) }
        ending.finish()
      }
    )
  }

  /// Waits until everything was read.
  func end() async {
    for await _ in ended {}
    withExtendedLifetime(reader) {}
  }
}

/// Cuts bytes into lines.
private final class LineSplitter: Sendable {
  private let longest: Int
  private let kept = Mutex<[UInt8]>([])

  init(longest: Int) {
    self.longest = longest
  }

  func lines(_ bytes: [UInt8]) -> [String] {
    kept.withLock { kept in
      var lines: [String] = []
      var start = bytes.startIndex
      while let end = bytes[start...].firstIndex(of: UInt8(ascii: "\n")) {
        add(bytes[start..<end], to: &kept)
        lines.append(String(decoding: kept, as: UTF8.self))
        kept.removeAll(keepingCapacity: true)
        start = end + 1
      }
      add(bytes[start...], to: &kept)
      return lines
    }
  }

  func rest() -> String? {
    kept.withLock { $0.isEmpty ? nil : String(decoding: $0, as: UTF8.self) }
  }

  private func add(_ bytes: ArraySlice<UInt8>, to kept: inout [UInt8]) {
    kept += bytes.prefix(max(0, longest - kept.count))
  }
}

/// Lines put together again, up to a number of bytes.
final class JoinedLines: Sendable {
  private let limit: Int
  private let joined = Mutex<[UInt8]>([])

  init(limit: Int) {
    self.limit = limit
  }

  var bytes: [UInt8] { joined.withLock { $0 } }

  func take(_ line: String) {
    joined.withLock {
      if $0.count < limit { $0 += Array(line.utf8) + [UInt8(ascii: "\n")] }
    }
  }
}

/// The last line of many.
final class LastLine: Sendable {
  private let last = Mutex("")

  var text: String { last.withLock { $0 } }

  func take(_ line: String) { last.withLock { $0 = line } }
}
