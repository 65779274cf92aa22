import CMicroHTTPD
import Synchronization

/// What MHD's callbacks work with.
///
/// The callbacks are formed here, outside of any actor: one that is isolated would end the process on
/// MHD's thread.
final class ServerCore: Sendable {
  private struct State {
    var isStopping = false
    var begun: UInt64 = 0
    var tasks: [UInt64: Task<Void, Never>] = [:]
  }

  let route: @Sendable (HTTPRequestHead) -> HTTPRoute
  let tooLarge: @Sendable () -> HTTPResponse
  let connections: ConnectionTable
  /// Requests that are not over.
  let live = Atomic(0)
  private let state = Mutex(State())

  init(
    route: @escaping @Sendable (HTTPRequestHead) -> HTTPRoute,
    tooLarge: @escaping @Sendable () -> HTTPResponse,
    connections: ConnectionTable
  ) {
    self.route = route
    self.tooLarge = tooLarge
    self.connections = connections
  }

  var isStopping: Bool { state.withLock(\.isStopping) }

  /// Starts the work of a suspended request; false when the server stops.
  ///
  /// The task is awaited by whoever stops the server.
  func begin(_ exchange: Exchange, _ work: @escaping @Sendable () async -> HTTPAnswer) -> Bool {
    state.withLock { state in
      guard !state.isStopping else { return false }
      state.begun += 1
      let id = state.begun
      state.tasks[id] = Task { [self] in
        exchange.resume(await work())
        // Last: whoever stops the server waits for the resumption.
        self.state.withLock { $0.tasks[id] = nil }
      }
      return true
    }
  }

  /// Lets no new request begin.
  ///
  /// - Returns: the work that still runs.
  func refuse() -> [Task<Void, Never>] {
    state.withLock { state in
      state.isStopping = true
      return Array(state.tasks.values)
    }
  }

  /// The target of a request has come; see `MHD_OPTION_URI_LOG_CALLBACK`.
  static let target:
    @convention(c) (UnsafeMutableRawPointer?, UnsafePointer<CChar>?, OpaquePointer?) ->
      UnsafeMutableRawPointer? = { context, uri, connection in
        guard let context, let uri, let connection else { return nil }
        let core = Unmanaged<ServerCore>.fromOpaque(context).takeUnretainedValue()
        let target = Array(String(cString: uri).utf8)
        // Released by `completed`.
        return Unmanaged.passRetained(Exchange(core, connection, target: target)).toOpaque()
      }

  /// MHD_AccessHandlerCallback: once for the head, once for each piece of the body, once at the end,
  /// and once after a resumption.
  static let handle: MHD_AccessHandlerCallback = {
    _,
    _,
    _,
    method,
    _,
    bytes,
    count,
    slot in
    guard let method, let count, let pointer = slot?.pointee else { return .NO }
    let exchange = Unmanaged<Exchange>.fromOpaque(pointer).takeUnretainedValue()
    guard exchange.hasHead else { return exchange.begin(method: String(cString: method)) }
    guard count.pointee > 0 else { return exchange.proceed() }
    let result = exchange.take(UnsafeRawBufferPointer(start: bytes, count: count.pointee))
    count.pointee = 0
    return result
  }

  /// MHD_RequestCompletedCallback: also for a client that went away.
  static let completed: MHD_RequestCompletedCallback = { _, _, slot, _ in
    guard let pointer = slot?.pointee else { return }
    let exchange = Unmanaged<Exchange>.fromOpaque(pointer)
    exchange.takeUnretainedValue().completed()
    exchange.release()
    slot?.pointee = nil
  }

  /// MHD_NotifyConnectionCallback: before a connection's first byte is read, and before its socket is closed.
  static let connected: MHD_NotifyConnectionCallback = { context, connection, _, code in
    guard let context, let connection else { return }
    let core = Unmanaged<ServerCore>.fromOpaque(context).takeUnretainedValue()
    if handoff_mhd_has_started(code) != 0 {
      core.connections.opened(connection)
    } else {
      core.connections.closed(connection)
    }
  }
}
