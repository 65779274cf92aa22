import CLinux
import Glibc
import Synchronization

/// What became of the wish for a read lease.
package enum LeaseAttempt: Sendable {
  case held(FileLease)
  /// Some process has the file open for writing, or a lease on it is being broken.
  case openForWriting
  /// The file system, the owner or a missing `CAP_LEASE` does not allow leases: nothing is known.
  case unavailable(SystemError)
}

/// A read lease: while it is held, nobody has the file open for writing; see fcntl(2), `F_SETLEASE`.
///
/// Somebody who opens it for writing breaks the lease: it is released at once, so that they wait only
/// for microseconds, and the holder is told. Letting go of the last reference releases it.
package final class FileLease: Sendable {
  private enum State {
    case held
    case broken
    case released
  }

  fileprivate let file: FileDescriptor
  fileprivate let id: UInt64
  private let keeper: LeaseKeeper
  private let state = Mutex(State.held)
  private let onBreak: @Sendable () -> Void

  fileprivate init(
    _ id: UInt64,
    _ file: FileDescriptor,
    _ keeper: LeaseKeeper,
    _ onBreak: @escaping @Sendable () -> Void
  ) {
    self.id = id
    self.file = file
    self.keeper = keeper
    self.onBreak = onBreak
  }

  deinit {
    release()
  }

  /// Somebody wanted to write while the lease was held.
  ///
  /// A break is told by a signal, which may come a moment later than the writer; so this also asks
  /// the kernel.
  package var isBroken: Bool {
    let known = state.withLock { $0 }
    switch known {
    case .broken: return true
    case .released: return false
    case .held: return clinux_lease_is_held(file.rawValue) == 0
    }
  }

  /// Gives the lease back; later calls do nothing.
  package func release() {
    end(.released)
  }

  /// Called by the keeper when the signal has come.
  fileprivate func wasBroken() {
    if end(.broken) { onBreak() }
  }

  @discardableResult
  private func end(_ outcome: State) -> Bool {
    let isFirst = state.withLock { state in
      guard case .held = state else { return false }
      state = outcome
      return true
    }
    guard isFirst else { return false }
    keeper.forget(file.rawValue, id)
    // EBADF and EAGAIN: the descriptor is closed, or the lease is gone by itself. Both are the aim.
    _ = clinux_lease_release(file.rawValue)
    return true
  }
}

/// Takes read leases and hears when they are broken.
///
/// Breaks are signals, sent to one thread that has all signals blocked and reads them from a
/// signalfd(2); no other thread can be hit, whatever its mask is.
package final class LeaseKeeper: Sendable {
  private struct Known {
    let id: UInt64
    weak var lease: FileLease?
  }

  private let loop = EventLoop("leases")
  private let thread: pid_t
  private let signal = clinux_lease_signal()
  private let leases = Mutex<[CInt: Known]>([:])
  private let registration = Mutex<EventLoop.Registration?>(nil)
  private let lastID = Atomic<UInt64>(0)

  nonisolated(nonsending) package init() async throws(SystemError) {
    thread = try await loop.run { () throws(SystemError) in clinux_thread_id() }
    let signals = [signal, SIGIO]
    let number = try checked("signalfd") { clinux_signalfd(signals, signals.count) }
    let descriptor = FileDescriptor(owning: number)
    let wait = try loop.register(descriptor, .readable) { [weak self] _ in
      self?.readSignals(descriptor)
    }
    registration.withLock { $0 = wait }
  }

  deinit {
    registration.withLock { $0 }?.cancel()
  }

  /// Takes a lease on a regular file that is open for reading only, if it is to be had.
  ///
  /// `onBreak` is called once, on the keeper's thread, after a broken lease has been released; it must
  /// be short and must not block.
  package func attempt(
    _ file: FileDescriptor,
    onBreak: @escaping @Sendable () -> Void = {}
  ) -> LeaseAttempt {
    let id = lastID.add(1, ordering: .relaxed).newValue
    let lease = FileLease(id, file, self, onBreak)
    // Known before it is taken: the break can come at once.
    leases.withLock { $0[file.rawValue] = Known(id: id, lease: lease) }
    while clinux_lease(file.rawValue, signal, thread) == -1 {
      let error = SystemError.last("fcntl F_SETLEASE")
      if error.errno == EINTR { continue }
      lease.release()
      let isBusy = error.errno == EAGAIN || error.errno == EBUSY
      return isBusy ? .openForWriting : .unavailable(error)
    }
    return .held(lease)
  }

  fileprivate func forget(_ number: CInt, _ id: UInt64) {
    // Compared by id: a strong reference under the lock could be the last, and its end comes here.
    leases.withLock { leases in
      if leases[number]?.id == id { leases.removeValue(forKey: number) }
    }
  }

  private func readSignals(_ descriptor: FileDescriptor) {
    while true {
      var number: CInt = -1
      let signal = clinux_read_signal(descriptor.rawValue, &number)
      if signal <= 0 { return }
      // SIGIO without a file: the queue of the real-time signal was full, so all are looked at.
      let concerned = leases.withLock { leases in
        number >= 0 ? [leases[number]?.lease] : leases.values.map(\.lease)
      }
      for lease in concerned.compactMap({ $0 })
      where clinux_lease_is_held(lease.file.rawValue) == 0 {
        lease.wasBroken()
      }
    }
  }
}
