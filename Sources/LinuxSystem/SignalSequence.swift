import CLinux
import Glibc

/// Which signals are never delivered by interruption, but read from a descriptor.
package enum SignalMask {
  /// Blocks what ``SignalSequence`` and ``LeaseKeeper`` read, and ignores SIGPIPE.
  ///
  /// To be called first in main: threads inherit the mask of the one that starts them. Children do
  /// not: ``SpawnedProcess`` resets both.
  package static func blockAtStart() throws(SystemError) {
    let signals = [SIGTERM, SIGINT, SIGHUP, SIGIO, clinux_lease_signal()]
    let error = clinux_block_signals(signals, signals.count)
    guard error == 0 else { throw SystemError(error, "pthread_sigmask") }
    try checked("signal") { clinux_ignore_pipe_signal() }
  }
}

/// The signals of the process, one after the other, by signalfd(2).
///
/// Only signals that ``SignalMask/blockAtStart()`` has blocked in all threads come here.
package final class SignalSequence: AsyncSequence, Sendable {
  package typealias Element = CInt

  private let stream: AsyncStream<CInt>
  private let continuation: AsyncStream<CInt>.Continuation
  private let registration: EventLoop.Registration

  package init(_ signals: [CInt] = [SIGTERM, SIGINT, SIGHUP]) throws(SystemError) {
    let number = try checked("signalfd") { clinux_signalfd(signals, signals.count) }
    let descriptor = FileDescriptor(owning: number)
    // A signal that comes while sixteen others wait says nothing new.
    let (stream, continuation) = AsyncStream.makeStream(
      of: CInt.self,
      bufferingPolicy: .bufferingOldest(16)
    )
    self.stream = stream
    self.continuation = continuation
    registration = try EventLoop.process.register(descriptor, .readable) { _ in
      var file: CInt = -1
      let signal = clinux_read_signal(descriptor.rawValue, &file)
      if signal > 0 { continuation.yield(signal) }
    }
  }

  deinit {
    registration.cancel()
    continuation.finish()
  }

  package func makeAsyncIterator() -> AsyncStream<CInt>.AsyncIterator {
    stream.makeAsyncIterator()
  }
}
