import CLinux
import Glibc
import Synchronization

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

  /// Ignores SIGHUP until a ``SignalSequence`` takes it.
  package static func ignoreHangup() throws(SystemError) {
    try checked("signal") { clinux_ignore_signal(SIGHUP) }
  }
}

/// The signals of the process, one after the other; see signal-safety(7).
///
/// One at a time in a process. While it lives its signals do not end the process.
package final class SignalSequence: AsyncSequence, Sendable {
  package typealias Element = CInt

  private let signals: [CInt]
  private let arrived = ArrivedSignals()
  private let stream: AsyncStream<Void>
  private let continuation: AsyncStream<Void>.Continuation
  private let reader: PipeReader
  private let writing: FileDescriptor

  package init(_ signals: [CInt] = [SIGTERM, SIGINT, SIGHUP]) throws(SystemError) {
    let (reading, writing) = try FileDescriptor.pipe()
    try writing.setNonblocking()
    // It only says that there is one.
    let (stream, continuation) = AsyncStream.makeStream(
      of: Void.self,
      bufferingPolicy: .bufferingNewest(1)
    )
    self.signals = signals
    self.stream = stream
    self.continuation = continuation
    self.writing = writing
    reader = try PipeReader(
      reading,
      take: { [arrived] bytes in
        for byte in bytes { arrived.add(CInt(byte)) }
        continuation.yield()
      },
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

  package func makeAsyncIterator() -> Iterator {
    Iterator(arrived: arrived, bell: stream.makeAsyncIterator())
  }

  /// Waits for the next signal; nil once the task is cancelled.
  package struct Iterator: AsyncIteratorProtocol {
    fileprivate let arrived: ArrivedSignals
    fileprivate var bell: AsyncStream<Void>.AsyncIterator

    package mutating func next(
      isolation actor: isolated (any Actor)? = #isolation
    ) async -> CInt? {
      while true {
        if let signal = arrived.take() { return signal }
        if await bell.next(isolation: actor) == nil { return nil }
      }
    }
  }
}

/// Signals that nobody has taken yet, in order: however many of one kind come, the others are kept.
private final class ArrivedSignals: Sendable {
  private let signals = Mutex<[CInt]>([])

  /// One that comes while some of its kind wait says nothing new.
  private static let most = 4

  func add(_ signal: CInt) {
    signals.withLock { signals in
      if signals.count(where: { $0 == signal }) < Self.most { signals.append(signal) }
    }
  }

  func take() -> CInt? {
    signals.withLock { $0.isEmpty ? nil : $0.removeFirst() }
  }
}
