import CLinux
import Glibc
import Synchronization

/// What the loop's thread and its users share; the thread keeps it alive until the loop is let go.
final class EventLoopCore: Sendable {
  private struct Descriptor {
    let file: FileDescriptor
    let callback: EventLoop.Callback
  }

  private struct Moment {
    let due: ContinuousClock.Instant
    let callback: @Sendable () -> Void
  }

  private struct State {
    var nextID: UInt64 = 1
    var descriptors: [UInt64: Descriptor] = [:]
    var moments: [UInt64: Moment] = [:]
    var work: [@Sendable () -> Void] = []
    var isStopped = false
    var failure: SystemError?
  }

  private let state = Mutex(State())
  private let epoll: FileDescriptor
  private let alarm: FileDescriptor
  private static let alarmID: UInt64 = 0

  init() {
    epoll = FileDescriptor(owning: clinux_epoll_create())
    alarm = FileDescriptor(owning: clinux_eventfd())
    let added = clinux_epoll_add(
      epoll.rawValue,
      alarm.rawValue,
      EventLoop.Readiness.readable.rawValue,
      Self.alarmID
    )
    if added == -1 {
      let error = SystemError.last("epoll")
      state.withLock { $0.failure = error }
    }
  }

  func start(_ name: String) {
    let context = Unmanaged.passRetained(self)
    let error = clinux_thread(name, eventLoopThread, context.toOpaque())
    guard error != 0 else { return }
    context.release()
    state.withLock { $0.failure = SystemError(error, "pthread_create") }
  }

  func stop() {
    state.withLock { $0.isStopped = true }
    wake()
  }

  func check() throws(SystemError) {
    if let failure = state.withLock({ $0.failure }) { throw failure }
  }

  func add(
    _ file: FileDescriptor,
    _ interest: EventLoop.Readiness,
    _ callback: @escaping EventLoop.Callback
  ) throws(SystemError) -> UInt64 {
    try check()
    let id = state.withLock { state in
      let id = state.nextID
      state.nextID += 1
      state.descriptors[id] = Descriptor(file: file, callback: callback)
      return id
    }
    guard clinux_epoll_add(epoll.rawValue, file.rawValue, interest.rawValue, id) == -1 else {
      return id
    }
    let error = SystemError.last("epoll_ctl")
    // Let go of outside the lock: its end may come back here.
    _ = state.withLock { $0.descriptors.removeValue(forKey: id) }
    throw error
  }

  func change(_ id: UInt64, _ interest: EventLoop.Readiness) throws(SystemError) {
    guard let file = state.withLock({ $0.descriptors[id]?.file }) else { return }
    try checked("epoll_ctl") {
      clinux_epoll_change(epoll.rawValue, file.rawValue, interest.rawValue, id)
    }
  }

  func remove(_ id: UInt64) {
    let (descriptor, _) = state.withLock { state in
      (state.descriptors.removeValue(forKey: id), state.moments.removeValue(forKey: id))
    }
    // Fails only for a descriptor that is closed already, which epoll has forgotten by itself.
    if let descriptor { _ = clinux_epoll_remove(epoll.rawValue, descriptor.file.rawValue) }
  }

  func schedule(_ time: Duration, _ callback: @escaping @Sendable () -> Void) -> UInt64 {
    let id = state.withLock { state in
      let id = state.nextID
      state.nextID += 1
      state.moments[id] = Moment(due: .now.advanced(by: time), callback: callback)
      return id
    }
    wake()
    return id
  }

  func enqueue(_ work: @escaping @Sendable () -> Void) {
    state.withLock { $0.work.append(work) }
    wake()
  }

  private func wake() {
    var one: UInt64 = 1
    // EAGAIN means that the counter is full: the thread is awake already.
    _ = Glibc.write(alarm.rawValue, &one, 8)
  }

  /// The thread's whole life.
  func serve() {
    var events = Array(repeating: clinux_event(), count: 64)
    while true {
      let timeout = nextTimeout()
      let count = clinux_epoll_wait(epoll.rawValue, &events, CInt(events.count), timeout)
      for event in events.prefix(Int(max(count, 0))) { deliver(event) }
      guard runQueued() else { return }
    }
  }

  private func deliver(_ event: clinux_event) {
    if event.id == Self.alarmID {
      var count: UInt64 = 0
      _ = Glibc.read(alarm.rawValue, &count, 8)
      return
    }
    let callback = state.withLock { $0.descriptors[event.id]?.callback }
    callback?(EventLoop.Readiness(rawValue: event.events))
  }

  /// Runs due callbacks and queued work; false once the loop is stopped.
  private func runQueued() -> Bool {
    let (work, due, isStopped) = state.withLock { state in
      let now = ContinuousClock.now
      let due = state.moments.filter { $0.value.due <= now }
      for id in due.keys { state.moments.removeValue(forKey: id) }
      defer { state.work = [] }
      return (state.work, due.values.map(\.callback), state.isStopped)
    }
    for callback in due { callback() }
    for piece in work { piece() }
    return !isStopped
  }

  /// Milliseconds until the next moment, rounded up; -1 without one.
  private func nextTimeout() -> CInt {
    state.withLock { state in
      if state.isStopped || !state.work.isEmpty { return 0 }
      guard let due = state.moments.values.map(\.due).min() else { return -1 }
      let (seconds, attoseconds) = ContinuousClock.now.duration(to: due).components
      if seconds < 0 || attoseconds < 0 { return 0 }
      return CInt(min(seconds, 3600) * 1000 + attoseconds / 1_000_000_000_000_000 + 1)
    }
  }
}

/// The thread's body, formed outside of any isolation.
private nonisolated func eventLoopThread(
  _ context: UnsafeMutableRawPointer?
) -> UnsafeMutableRawPointer? {
  guard let context else { return nil }
  Unmanaged<EventLoopCore>.fromOpaque(context).takeRetainedValue().serve()
  return nil
}
