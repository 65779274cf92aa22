import HandoffLog
import HandoffProtocol
import LinuxSystem
import Synchronization

/// What a receiver prints: logged line by line, and its last 64 KiB kept for error messages.
///
/// The event loop only passes pieces on; lines are cut by the task that follows. Of a flood, pieces
/// and lines are left out, the oldest first.
final class OutputLog: Sendable {
  private struct State {
    var readers: [PipeReader] = []
    var open = 0
    var waiting: [CheckedContinuation<Void, Never>] = []
    var tail: [String] = []
    var tailSize = 0
  }

  private struct Piece: Sendable {
    let stream: Int
    let bytes: [UInt8]
  }

  private let state = Mutex(State())
  private let allowance = LogAllowance()
  private let redaction: TokenRedaction
  private let pieces: AsyncStream<Piece>
  private let continuation: AsyncStream<Piece>.Continuation
  private static let longestLine = 4096
  private static let longestRest = 65_536
  private static let linesOfPiece = 200
  private static let tailLimit = 65_536

  init(redaction: TokenRedaction) {
    self.redaction = redaction
    (pieces, continuation) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(16))
  }

  /// Follows one more pipe; the closure sees every piece first, on the event loop.
  func attach(
    _ pipe: FileDescriptor,
    alsoTo observer: @escaping @Sendable ([UInt8]) -> Void = { _ in }
  ) throws(SystemError) {
    let stream = state.withLock { state in
      state.open += 1
      return state.open
    }
    do throws(SystemError) {
      let reader = try PipeReader(
        pipe,
        take: { [continuation] bytes in
          observer(bytes)
          continuation.yield(Piece(stream: stream, bytes: bytes))
        },
        end: { [self] in end() }
      )
      state.withLock { $0.readers.append(reader) }
    } catch {
      end()
      throw error
    }
  }

  /// Logs the lines until all pipes have ended; the tail is complete when this returns.
  func follow(_ logger: Logger, _ destination: DestinationName) async {
    var partial: [Int: [UInt8]] = [:]
    for await piece in pieces {
      var lines = ((partial[piece.stream] ?? []) + piece.bytes)
        .split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
      let rest = lines.popLast() ?? []
      // Dropped as a whole: half a token would not be known for one.
      partial[piece.stream] = rest.count > Self.longestRest ? [] : Array(rest)
      for line in lines.suffix(Self.linesOfPiece) { take(line, logger, destination) }
    }
    for line in partial.values where !line.isEmpty { take(line[...], logger, destination) }
  }

  /// Takes what is in the pipes now and counts them as ended: others may hold them for ever.
  func finish() {
    for reader in state.withLock({ $0.readers }) { reader.finish() }
  }

  /// Waits until all pipes have ended.
  ///
  /// Cancellation does not shorten it: ``finish()`` does.
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

  private func end() {
    let waiting = state.withLock { state in
      state.open -= 1
      guard state.open == 0 else { return nil as [CheckedContinuation<Void, Never>]? }
      defer {
        state.readers = []
        state.waiting = []
      }
      return state.waiting
    }
    guard let waiting else { return }
    continuation.finish()
    for continuation in waiting { continuation.resume() }
  }

  private func take(_ bytes: ArraySlice<UInt8>, _ logger: Logger, _ name: DestinationName) {
    // Cut after redaction: a token that lies across the cut would not be known.
    let whole = redaction.redacted(String(decoding: bytes, as: UTF8.self))
    let cut = whole.prefix(Self.longestLine)
    // No document of the protocol holds a zero character, and these words go into one.
    let line = String(
      String.UnicodeScalarView(cut.unicodeScalars.map { $0 == "\0" ? "\u{FFFD}" : $0 })
    )
    if let omitted = allowance.take(line.utf8.count, now: .now) {
      var fields: [LogKey: String] = [.destination: name.text, .detail: line]
      if omitted > 0 { fields[.reason] = "\(omitted) lines before this one were left out" }
      logger.debug("The receiver printed a line", fields)
    }
    state.withLock { state in
      state.tail.append(line)
      state.tailSize += line.utf8.count
      while state.tailSize > Self.tailLimit, state.tail.count > 1 {
        state.tailSize -= state.tail.removeFirst().utf8.count
      }
    }
  }
}
