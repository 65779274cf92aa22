import CMicroHTTPD
import Glibc
package import LinuxSystem
import Synchronization

/// An HTTP/1.1 server on a thread of its own.
///
/// The thread only reads, writes and routes. A request that takes time is suspended meanwhile, so that
/// neither this thread nor the cooperative pool is held up.
package final class HTTPServer: Sendable {
  /// What a server allows its clients.
  package struct Limits: Hashable, Sendable {
    /// Connections at once; more wait in the kernel's queue until one ends.
    package var connections: Int
    /// A connection on which nothing moves for so long ends.
    ///
    /// A request that is being answered waits.
    package var idle: Duration
    /// Bytes of a request's line and header fields; more is answered 431 or 414.
    package var head: Int
    /// A head that is not whole after so long ends its connection, however steadily it comes.
    package var headTime: Duration
    /// The same for a body, with a second more for each 64 KiB of its declared length.
    package var bodyTime: Duration

    package init(
      connections: Int = 512,
      idle: Duration = .seconds(15),
      head: Int = 16_384,
      headTime: Duration = .seconds(15),
      bodyTime: Duration = .seconds(60)
    ) {
      self.connections = connections
      self.idle = idle
      self.head = head
      self.headTime = headTime
      self.bodyTime = bodyTime
    }

    /// From so many connections on, a new one takes the place of the one that has been sending longest.
    var room: Int { max(1, connections * 3 / 4) }
    /// The same for the connections of one address.
    var share: Int { max(1, connections / 4) }
  }

  private struct Daemon: @unchecked Sendable {
    // SAFETY: the daemon does its own locking; the pointer is used once, for MHD_stop_daemon.
    let pointer: OpaquePointer

    /// Waits for the daemon's thread.
    func stop() { MHD_stop_daemon(pointer) }
  }

  /// Apart from this object, so that MHD's thread never holds the last reference to it.
  private let core: ServerCore
  private let daemon: Mutex<Daemon?>

  /// Serves the connections of a listening socket until ``stop()``.
  ///
  /// - Parameters:
  ///   - listener: taken over.
  ///   - limits: what clients are allowed.
  ///   - tooLarge: answers a body over the limit of its route.
  ///   - route: called on the server's thread for each request's head; must not block.
  /// - Throws: what the system says when no thread or descriptor is to be had.
  package init(
    _ listener: FileDescriptor,
    limits: Limits = Limits(),
    tooLarge: @escaping @Sendable () -> HTTPResponse = { HTTPResponse(413) },
    route: @escaping @Sendable (HTTPRequestHead) -> HTTPRoute
  ) throws(SystemError) {
    let core = ServerCore(
      route: route,
      tooLarge: tooLarge,
      connections: ConnectionTable(limits)
    )
    var bounds = handoff_mhd_limits(
      connections: UInt32(limits.connections),
      idle: UInt32(max(1, limits.idle.components.seconds)),
      memory: limits.head + Self.overhead
    )
    // Borrowed: the daemon's thread ends before the core can go.
    let pointer = handoff_mhd_start(
      listener.rawValue,
      ServerCore.handle,
      ServerCore.completed,
      ServerCore.connected,
      ServerCore.target,
      Unmanaged.passUnretained(core).toOpaque(),
      &bounds
    )
    guard let pointer else { throw SystemError.last("MHD_start_daemon") }
    // The daemon closes it.
    _ = listener.release()
    self.core = core
    daemon = Mutex(Daemon(pointer: pointer))
  }

  deinit {
    let ended = takeDaemon()
    let running = core.refuse()
    guard let ended, !running.isEmpty else {
      ended?.stop()
      return
    }
    // Nobody stopped the server: its daemon outlives it until the last answer is made.
    Task { [core] in
      await Self.end(ended, after: running)
      withExtendedLifetime(core) {}
    }
  }

  /// Requests that have begun and are not over.
  package var live: Int { core.live.load(ordering: .relaxed) }

  /// Takes no more requests, cancels and awaits those that are being answered, and closes everything.
  ///
  /// Later calls do nothing.
  package func stop() async {
    guard let ended = takeDaemon() else { return }
    await Self.end(ended, after: core.refuse())
  }

  private func takeDaemon() -> Daemon? {
    daemon.withLock { daemon in
      defer { daemon = nil }
      return daemon
    }
  }

  private static func end(_ daemon: Daemon, after running: [Task<Void, Never>]) async {
    for task in running { task.cancel() }
    for task in running { await task.value }
    await stopping.run { daemon.stop() }
  }

  /// What MHD keeps in a connection's pool besides the head.
  private static let overhead = 16_384
  /// Waits for the ends of servers' threads.
  private static let stopping = BlockingThread("http-stop")
}
