import Glibc
import HandoffAPI
import HandoffCore
import HandoffLog
import LinuxSystem

/// Serves the HTTP API for as long as the service does not drain.
///
/// An address that cannot be had does not stop the broker, which takes exports all the same: it is said,
/// and tried again.
struct APIStage: Sendable {
  let listen: BrokerSettings.ListenAddress?
  let server: APIServer
  let address: APIAddress
  let state: StateFolder
  let stop: StopState
  let logger: Logger

  private static let thread = BlockingThread("api")
  private static let retry: Duration = .seconds(5)

  /// Takes the address, so that it is known before anything is sent.
  ///
  /// - Returns: the listening socket; nil where there is to be none, or none is to be had now.
  func bind() async -> FileDescriptor? {
    guard let listen else { return nil }
    do {
      let (listener, port) = try await Self.thread.run { () throws(SystemError) in
        let bound = try TCPSocket.listen(host: listen.host, port: listen.port)
        let text = "\(BrokerSettings.ListenAddress(host: listen.host, port: bound.port))\n"
        try DurableFile.write(Array(text.utf8), to: state.apiAddress)
        return bound
      }
      address.set(.bound(listen.host, port: port))
      logger.info("The HTTP API listens", [.detail: "\(listen.host) port \(port)"])
      return listener
    } catch {
      let known = address.condition
      address.set(.failed(error.reason))
      // One that a killed broker has left would lead receivers to somebody else.
      await forget()
      if known != address.condition {
        logger.error(
          "The HTTP API cannot listen; it is tried again",
          [.detail: listen.description, .error: error.description]
        )
      }
      return nil
    }
  }

  /// Runs until the service drains.
  ///
  /// - Parameter first: what ``bind()`` returned.
  func run(_ first: FileDescriptor?) async {
    guard listen != nil else { return }
    let drained = WakeSignal()
    stop.wakeOnDrain(drained)
    var listener = first
    while !stop.isDraining, !Task.isCancelled {
      if let bound = listener {
        listener = nil
        await serve(bound)
      } else {
        await drained.wait(atMost: Self.retry)
        if !stop.isDraining { listener = await bind() }
      }
    }
  }

  private func serve(_ listener: FileDescriptor) async {
    do {
      try await stop.untilDraining { try await server.serve(listener) }
    } catch {
      address.set(.failed("\(error)"))
      logger.error("The HTTP API has ended; it is tried again", [.error: "\(error)"])
    }
    await forget()
  }

  private func forget() async {
    await Self.thread.run {
      logger.logged("The API's address stays written") {
        try DurableFile.unlink(state.apiAddress)
      }
    }
  }
}
