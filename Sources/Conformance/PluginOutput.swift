import LinuxSystem
import Synchronization

/// What a plugin wrote to standard output and error, up to a size.
final class PluginOutput: Sendable {
  private static let mostBytes = 1 << 20

  private let bytes = Mutex<[UInt8]>([])
  private struct Readers {
    var all: [PipeReader] = []
    var open = 0
    var waiter: CheckedContinuation<Void, Never>?
  }

  private let readers = Mutex(Readers())

  /// Reads a pipe from now on.
  func attach(_ pipe: FileDescriptor) throws(SystemError) {
    readers.withLock { $0.open += 1 }
    let reader = try PipeReader(
      pipe,
      take: { [weak self] in self?.take($0) },
      end: { [weak self] in self?.ended() }
    )
    readers.withLock { $0.all.append(reader) }
  }

  /// Waits for what the process wrote before its end; others may hold its pipes for longer.
  func finish() async {
    for reader in readers.withLock({ $0.all }) { reader.finish() }
    await withCheckedContinuation { continuation in
      let isDone = readers.withLock { readers in
        if readers.open > 0 { readers.waiter = continuation }
        return readers.open == 0
      }
      if isDone { continuation.resume() }
    }
  }

  private func ended() {
    let waiter = readers.withLock { readers in
      readers.open -= 1
      guard readers.open == 0 else { return nil as CheckedContinuation<Void, Never>? }
      defer { readers.waiter = nil }
      return readers.waiter
    }
    waiter?.resume()
  }

  /// Everything that it wrote.
  var text: String { String(decoding: bytes.withLock { $0 }, as: UTF8.self) }

  /// The last line with something in it.
  var lastLine: String? {
    text.split(whereSeparator: \.isNewline).last.map { String($0.prefix(300)) }
  }

  private func take(_ piece: [UInt8]) {
    bytes.withLock { bytes in
      bytes += piece.prefix(max(0, Self.mostBytes - bytes.count))
    }
  }
}
