import CLinux
import Glibc
import Synchronization

/// One thread that waits for descriptors and moments with epoll(7), and calls back when they come.
///
/// The thread is a real one that lives as long as the loop: a child that asks to die with its parent
/// (`PR_SET_PDEATHSIG`) is bound to the thread that made it. Every signal is blocked in it. Callbacks
/// run on it one after the other, so they must be short and must not block.
package final class EventLoop: Sendable {
  /// What a descriptor is ready for.
  package struct Readiness: OptionSet, Hashable, Sendable {
    package let rawValue: UInt32

    package init(rawValue: UInt32) {
      self.rawValue = rawValue
    }

    /// Reading does not block; also at end of file.
    package static let readable = Readiness(rawValue: UInt32(CLINUX_READABLE))
    package static let writable = Readiness(rawValue: UInt32(CLINUX_WRITABLE))
    /// Error or closed; always told.
    package static let hangup = Readiness(rawValue: UInt32(CLINUX_HANGUP))
  }

  package typealias Callback = @Sendable (Readiness) -> Void

  private let core: EventLoopCore

  /// The loop for everything that is not slow.
  package static let process = EventLoop("events")

  /// Starts the thread; debuggers show the first 15 bytes of its name.
  ///
  /// If the system has none to give, every registration throws that error.
  package init(_ name: String) {
    core = EventLoopCore()
    core.start(name)
  }

  deinit {
    core.stop()
  }

  /// Calls back on the loop's thread as long as the descriptor is ready, until the registration is
  /// cancelled.
  ///
  /// The callback keeps its descriptor open: it must hold the ``FileDescriptor``.
  package func register(
    _ file: FileDescriptor,
    _ interest: Readiness,
    _ callback: @escaping Callback
  ) throws(SystemError) -> Registration {
    let id = try core.add(file, interest, callback)
    return Registration(core: core, id: id)
  }

  /// Calls back once on the loop's thread after a time, unless it is cancelled before.
  package func after(_ time: Duration, _ callback: @escaping @Sendable () -> Void) -> Registration {
    Registration(core: core, id: core.schedule(time, callback))
  }

  /// Runs a piece of work on the loop's thread and returns its value; the caller's task only waits.
  nonisolated(nonsending) package func run<Value: Sendable>(
    _ work: @escaping @Sendable () throws(SystemError) -> Value
  ) async throws(SystemError) -> Value {
    try core.check()
    let result: Result<Value, SystemError> = await withCheckedContinuation { continuation in
      core.enqueue { continuation.resume(returning: Result(catching: work)) }
    }
    return try result.get()
  }

  /// Waits until a descriptor can be read (or is at its end).
  ///
  /// - Throws: `CancellationError`, or ``SystemError`` for a descriptor that cannot be waited for.
  nonisolated(nonsending) package func readable(_ file: FileDescriptor) async throws {
    let wait = OneReadiness()
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        wait.begin(continuation, on: self, file)
      }
    } onCancel: {
      wait.end(.failure(CancellationError()))
    }
  }

  /// A wait for a descriptor or a moment.
  package final class Registration: Sendable {
    private let core: EventLoopCore
    private let id: UInt64

    fileprivate init(core: EventLoopCore, id: UInt64) {
      self.core = core
      self.id = id
    }

    /// Changes what a descriptor is waited for; an empty set waits only for a hang-up.
    package func update(_ interest: Readiness) throws(SystemError) {
      try core.change(id, interest)
    }

    /// No callback begins after this; one that runs on the loop's thread may still be at work.
    package func cancel() {
      core.remove(id)
    }
  }
}

/// A wait for one descriptor that ends exactly once.
private final class OneReadiness: Sendable {
  private struct State {
    var continuation: CheckedContinuation<Void, any Error>?
    var registration: EventLoop.Registration?
    var outcome: Result<Void, any Error>?
  }

  private let state = Mutex(State())

  func begin(
    _ continuation: CheckedContinuation<Void, any Error>,
    on loop: EventLoop,
    _ file: FileDescriptor
  ) {
    let early = state.withLock { state in
      if state.outcome == nil { state.continuation = continuation }
      return state.outcome
    }
    if let early { return continuation.resume(with: early) }
    do {
      let registration = try loop.register(file, .readable) { _ in
        // Holds the descriptor as long as it is registered.
        _ = file
        self.end(.success(()))
      }
      let isOver = state.withLock { state in
        state.registration = registration
        return state.outcome != nil
      }
      if isOver { registration.cancel() }
    } catch {
      end(.failure(error))
    }
  }

  func end(_ outcome: Result<Void, any Error>) {
    let (continuation, registration) = state.withLock { state in
      guard state.outcome == nil else {
        return (nil as CheckedContinuation<Void, any Error>?, nil as EventLoop.Registration?)
      }
      state.outcome = outcome
      defer { state.continuation = nil }
      return (state.continuation, state.registration)
    }
    registration?.cancel()
    continuation?.resume(with: outcome)
  }
}
