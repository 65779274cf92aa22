import CMicroHTTPD
import Glibc
import LinuxSystem
import Synchronization

/// The open connections of a server, and by when each has to be through with what it sends.
///
/// A client that sends a byte now and then is never idle; without an end for it, a few hundred of them would
/// leave no room for anybody else. So reading a head or a body ends at a moment that no byte moves, and while
/// there are many, each new connection ends the one that has been sending for the longest.
final class ConnectionTable: Sendable {
  private struct Entry {
    let socket: CInt
    let client: UInt64
    /// When what is being waited for began.
    var begun = ContinuousClock.now
    /// Nil while the client need not send anything: its request is worked on, or a file goes out.
    var deadline: ContinuousClock.Instant?
    /// The socket is shut down, and MHD about to close it.
    var isEnded = false
  }

  private struct State {
    var entries: [UInt: Entry] = [:]
    var isSweeping = false
  }

  private let limits: HTTPServer.Limits
  private let state = Mutex(State())

  init(_ limits: HTTPServer.Limits) {
    self.limits = limits
  }

  /// A connection is there; the oldest that still sends gives way to it where there are too many.
  func opened(_ connection: OpaquePointer) {
    let entry = Entry(
      socket: handoff_mhd_socket(connection),
      client: handoff_mhd_client(connection),
      deadline: .now + limits.headTime
    )
    let mustSweep = state.withLock { state in
      let others = state.entries.filter { !$0.value.isEnded }
      let own = others.filter { $0.value.client == entry.client }
      if own.count >= limits.share {
        Self.endOldest(of: own, in: &state)
      } else if others.count >= limits.room {
        Self.endOldest(of: others, in: &state)
      }
      state.entries[Self.key(connection)] = entry
      defer { state.isSweeping = true }
      return !state.isSweeping
    }
    if mustSweep { sweepLater() }
  }

  /// MHD closes the socket right after this: its number must not be used any more.
  func closed(_ connection: OpaquePointer) {
    state.withLock { _ = $0.entries.removeValue(forKey: Self.key(connection)) }
  }

  /// The client has to send, or to take what is small, within a time; nil for no end.
  func expect(_ connection: OpaquePointer, within time: Duration?) {
    let now = ContinuousClock.now
    state.withLock { state in
      state.entries[Self.key(connection)]?.begun = now
      state.entries[Self.key(connection)]?.deadline = time.map { now + $0 }
    }
  }

  /// The next request's head is waited for.
  func expectHead(_ connection: OpaquePointer) {
    expect(connection, within: limits.headTime)
  }

  /// A body is waited for, or a short answer is sent; one of a declared length has time for it.
  func expectBody(_ connection: OpaquePointer, length: Int64 = 0) {
    expect(connection, within: limits.bodyTime + .seconds(max(0, length) / Self.leastRate))
  }

  /// Bytes per second.
  private static let leastRate: Int64 = 65_536

  private func sweepLater() {
    let interval = min(.seconds(1), limits.headTime / 2)
    _ = EventLoop.process.after(interval) { [weak self] in self?.sweep() }
  }

  /// Ends what is late; runs for as long as there are connections.
  private func sweep() {
    let now = ContinuousClock.now
    let goesOn = state.withLock { state in
      for (key, entry) in state.entries where entry.deadline.map({ $0 <= now }) ?? false {
        Self.end(key, in: &state)
      }
      state.isSweeping = !state.entries.isEmpty
      return state.isSweeping
    }
    if goesOn { sweepLater() }
  }

  private static func endOldest(of entries: [UInt: Entry], in state: inout State) {
    let sending = entries.filter { $0.value.deadline != nil }
    if let oldest = sending.min(by: { $0.value.begun < $1.value.begun }) {
      end(oldest.key, in: &state)
    }
  }

  /// Under the lock, so that the number cannot be another's by now; MHD notices on its own thread.
  private static func end(_ key: UInt, in state: inout State) {
    guard let entry = state.entries[key], !entry.isEnded else { return }
    state.entries[key]?.isEnded = true
    // Nothing else can be said than that it is gone already.
    _ = shutdown(entry.socket, CInt(SHUT_RDWR))
  }

  private static func key(_ connection: OpaquePointer) -> UInt { UInt(bitPattern: connection) }
}
