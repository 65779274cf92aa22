import Glibc
import Synchronization

/// Reads a pipe on the event loop and gives each piece to a closure, until the pipe's end.
///
/// At most a quarter of a mebibyte in a tenth of a second is read, so that a child that floods waits
/// for its own pipe and takes no time from others.
package final class PipeReader: Sendable {
  private struct State {
    var registration: EventLoop.Registration?
    var quota = PipeReader.burst
    var hasEnded = false
  }

  private let pipe: FileDescriptor
  private let take: @Sendable ([UInt8]) -> Void
  private let end: @Sendable () -> Void
  private let state = Mutex(State())
  private static let chunkSize = 65_536
  private static let burst = 262_144
  private static let period = Duration.milliseconds(100)

  /// Takes the reading end; both closures are called on the loop's thread and must not block.
  package init(
    _ pipe: FileDescriptor,
    take: @escaping @Sendable ([UInt8]) -> Void,
    end: @escaping @Sendable () -> Void
  ) throws(SystemError) {
    self.pipe = pipe
    self.take = take
    self.end = end
    try pipe.setNonblocking()
    try listen()
  }

  deinit {
    state.withLock { $0.registration }?.cancel()
  }

  /// Reads what is in the pipe now, and then counts it as ended: for a pipe that others still hold.
  package func finish() {
    _ = EventLoop.process.after(.zero) { [self] in
      // A pipe holds a mebibyte at most: who writes on and on is not waited for.
      for _ in 0..<16 where readOnce() {}
      close()
    }
  }

  private func listen() throws(SystemError) {
    let registration = try EventLoop.process.register(pipe, .readable) { [weak self] _ in
      self?.ready()
    }
    let isOver = state.withLock { state in
      state.registration = registration
      return state.hasEnded
    }
    if isOver { registration.cancel() }
  }

  private func ready() {
    guard readOnce() else { return }
    let isUsedUp = state.withLock { state in
      if state.quota > 0 || state.hasEnded { return false }
      state.registration?.cancel()
      state.registration = nil
      return true
    }
    if isUsedUp { pause() }
  }

  private func pause() {
    _ = EventLoop.process.after(Self.period) { [weak self] in
      guard let self else { return }
      let isOver = state.withLock { state in
        state.quota = Self.burst
        return state.hasEnded
      }
      if isOver { return }
      do {
        try listen()
      } catch {
        close()
      }
    }
  }

  /// Reads one piece; false when there is none now or will be none any more.
  private func readOnce() -> Bool {
    if state.withLock({ $0.hasEnded }) { return false }
    do {
      let bytes = try [UInt8](unsafeUninitializedCapacity: Self.chunkSize) { buffer, count in
        count = try pipe.read(into: UnsafeMutableRawBufferPointer(buffer))
      }
      if bytes.isEmpty {
        close()
        return false
      }
      state.withLock { $0.quota -= bytes.count }
      take(bytes)
      return true
    } catch let error as SystemError where error.errno == EAGAIN {
      return false
    } catch {
      close()
      return false
    }
  }

  private func close() {
    let (isFirst, registration) = state.withLock { state in
      defer {
        state.hasEnded = true
        state.registration = nil
      }
      return (!state.hasEnded, state.registration)
    }
    registration?.cancel()
    if isFirst { end() }
  }
}
