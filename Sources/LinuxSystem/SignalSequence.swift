import CLinux
import Glibc

/// What signals do in every thread of the process, whatever its mask is.
package enum SignalMask {
  /// Ignores SIGPIPE, SIGIO and the signal of leases.
  ///
  /// To be called first in main. The main thread of an asynchronous program blocks no signal: the
  /// runtime parks it with an empty mask (dispatch_main in libdispatch), whatever it had blocked
  /// before. So nothing here depends on masks: a lease's break goes to one thread that has it blocked,
  /// where it is queued although it is ignored, and ``SignalSequence`` has handlers. Children inherit
  /// none of it: ``SpawnedProcess`` resets signals.
  package static func blockAtStart() throws(SystemError) {
    for signal in [SIGPIPE, SIGIO, clinux_lease_signal()] {
      try checked("signal") { clinux_ignore_signal(signal) }
    }
  }
}

/// The signals of the process, one after the other; see signal-safety(7).
///
/// One at a time in a process. While it lives its signals do not end the process.
package final class SignalSequence: AsyncSequence, Sendable {
  package typealias Element = CInt

  private let signals: [CInt]
  private let stream: AsyncStream<CInt>
  private let continuation: AsyncStream<CInt>.Continuation
  private let reader: PipeReader
  private let writing: FileDescriptor

  package init(_ signals: [CInt] = [SIGTERM, SIGINT, SIGHUP]) throws(SystemError) {
    let (reading, writing) = try FileDescriptor.pipe()
    try writing.setNonblocking()
    // A signal that comes while sixteen others wait says nothing new.
    let (stream, continuation) = AsyncStream.makeStream(
      of: CInt.self,
      bufferingPolicy: .bufferingOldest(16)
    )
    self.signals = signals
    self.stream = stream
    self.continuation = continuation
    self.writing = writing
    reader = try PipeReader(
      reading,
      take: { bytes in for byte in bytes { continuation.yield(CInt(byte)) } },
      end: { continuation.finish() }
    )
    try checked("sigaction") {
      clinux_route_signals(signals, signals.count, writing.rawValue)
    }
  }

  deinit {
    // Fails only for a number that is no signal, and those were accepted before.
    _ = clinux_restore_signals(signals, signals.count)
    continuation.finish()
  }

  package func makeAsyncIterator() -> AsyncStream<CInt>.AsyncIterator {
    stream.makeAsyncIterator()
  }
}
