import LinuxSystem
import Synchronization

/// The last bytes that a callback's program prints: enough to say why it failed, whatever it floods.
final class OutputTail: Sendable {
  private struct State {
    var readers: [PipeReader] = []
    var bytes: [UInt8] = []
    var open = 0
    var waiting: CheckedContinuation<Void, Never>?
  }

  private let state = Mutex(State())
  private static let limit = 4096

  /// Follows one more pipe.
  func attach(_ pipe: FileDescriptor) throws(SystemError) {
    state.withLock { $0.open += 1 }
    do throws(SystemError) {
      let reader = try PipeReader(pipe, take: { [self] in take($0) }, end: { [self] in end() })
      state.withLock { $0.readers.append(reader) }
    } catch {
      end()
      throw error
    }
  }

  /// Takes what is in the pipes now, counts them as ended (others may hold them for ever), and waits
  /// for that.
  func finish() async {
    for reader in state.withLock({ $0.readers }) { reader.finish() }
    await withCheckedContinuation { continuation in
      let isOver = state.withLock { state in
        if state.open > 0 { state.waiting = continuation }
        return state.open == 0
      }
      if isOver { continuation.resume() }
    }
  }

  /// The last lines, as text.
  var text: String { String(decoding: state.withLock { $0.bytes }, as: UTF8.self) }

  /// The last line that is not empty; nil if there was none.
  var lastLine: String? {
    text.split(whereSeparator: \.isNewline).last.map { String($0.prefix(300)) }
  }

  private func take(_ bytes: [UInt8]) {
    state.withLock { $0.bytes = ($0.bytes + bytes.suffix(Self.limit)).suffix(Self.limit) }
  }

  private func end() {
    let waiting = state.withLock { state -> CheckedContinuation<Void, Never>? in
      state.open -= 1
      guard state.open == 0 else { return nil }
      // The readers hold this, and this them.
      state.readers = []
      defer { state.waiting = nil }
      return state.waiting
    }
    waiting?.resume()
  }
}
