import HandoffLog
import HandoffProtocol
import LinuxSystem
import Synchronization

/// What a receiver prints: logged line by line, and its last 64 KiB kept for error messages.
///
/// Of a flood, lines are left out: the newest thousand wait to be logged.
final class OutputLog: Sendable {
  private struct Stream {
    var partial: [UInt8] = []
  }

  private struct State {
    var streams: [Stream] = []
    var readers: [PipeReader] = []
    var open = 0
    var waiting: [CheckedContinuation<Void, Never>] = []
    var tail: [String] = []
    var tailSize = 0
  }

  private let state = Mutex(State())
  private let redaction: TokenRedaction
  private let lines: AsyncStream<String>
  private let continuation: AsyncStream<String>.Continuation
  private static let longestLine = 4096
  private static let tailLimit = 65_536

  init(redaction: TokenRedaction) {
    self.redaction = redaction
    (lines, continuation) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1000))
  }

  /// Follows one more pipe. The closure sees every piece first.
  func attach(
    _ pipe: FileDescriptor,
    alsoTo observer: @escaping @Sendable ([UInt8]) -> Void = { _ in }
  ) throws(SystemError) {
    let index = state.withLock { state in
      state.streams.append(Stream())
      state.open += 1
      return state.streams.count - 1
    }
    do throws(SystemError) {
      let reader = try PipeReader(
        pipe,
        take: { [self] bytes in
          observer(bytes)
          take(bytes, of: index)
        },
        end: { [self] in end(of: index) }
      )
      state.withLock { $0.readers.append(reader) }
    } catch {
      end(of: index)
      throw error
    }
  }

  /// Logs the lines until all pipes have ended.
  func follow(_ logger: Logger, _ destination: DestinationName) async {
    for await line in lines {
      logger.debug(
        "The receiver printed a line",
        [.destination: destination.text, .detail: line]
      )
    }
  }

  /// Takes what is in the pipes now and counts them as ended: others may hold them for ever.
  func finish() {
    for reader in state.withLock({ $0.readers }) { reader.finish() }
  }

  /// Waits until all pipes have ended. Cancellation does not shorten it: ``finish()`` does.
  func ended() async {
    await withCheckedContinuation { continuation in
      let isOver = state.withLock { state in
        if state.open > 0 { state.waiting.append(continuation) }
        return state.open == 0
      }
      if isOver { continuation.resume() }
    }
  }

  /// The last lines, without tokens.
  var tail: String { state.withLock { $0.tail }.joined(separator: "\n") }

  /// The last line that is not empty, shortened; nil if there was none.
  var lastLine: String? {
    state.withLock { $0.tail }.last { !$0.isEmpty }.map { String($0.prefix(300)) }
  }

  private func take(_ bytes: [UInt8], of index: Int) {
    state.withLock { state in
      for piece in bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        .enumerated()
      {
        if piece.offset > 0 { finishLine(&state, index) }
        let room = Self.longestLine - state.streams[index].partial.count
        state.streams[index].partial += piece.element.prefix(max(room, 0))
      }
    }
  }

  private func end(of index: Int) {
    let (isLast, waiting) = state.withLock { state in
      if !state.streams[index].partial.isEmpty { finishLine(&state, index) }
      state.open -= 1
      guard state.open == 0 else { return (false, [CheckedContinuation<Void, Never>]()) }
      defer {
        state.readers = []
        state.waiting = []
      }
      return (true, state.waiting)
    }
    if isLast { continuation.finish() }
    for continuation in waiting { continuation.resume() }
  }

  private func finishLine(_ state: inout State, _ index: Int) {
    let text = String(decoding: state.streams[index].partial, as: UTF8.self)
    state.streams[index].partial.removeAll(keepingCapacity: true)
    let line = redaction.redacted(text)
    continuation.yield(line)
    state.tail.append(line)
    state.tailSize += line.utf8.count
    while state.tailSize > Self.tailLimit, state.tail.count > 1 {
      state.tailSize -= state.tail.removeFirst().utf8.count
    }
  }
}
