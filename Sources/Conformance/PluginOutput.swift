import LinuxSystem
import Synchronization

/// What a plugin wrote to standard output and error, up to a size.
final class PluginOutput: Sendable {
  private static let mostBytes = 1 << 20

  private let bytes = Mutex<[UInt8]>([])
  private let readers = Mutex<[PipeReader]>([])

  /// Reads a pipe from now on.
  func attach(_ pipe: FileDescriptor) throws(SystemError) {
    let reader = try PipeReader(pipe, take: { [weak self] in self?.take($0) }, end: {})
    readers.withLock { $0.append(reader) }
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
