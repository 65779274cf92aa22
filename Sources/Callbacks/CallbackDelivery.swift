package import HandoffCore
package import HandoffLog
import HandoffProtocol
import LinuxSystem

/// Brings notices to one configured callback, however it is reached.
package struct CallbackDelivery: Sendable {
  private let settings: CallbackSettings
  private let host: CallbackHost
  private let logger: Logger
  /// Of its own, so that a file on a disk that hangs keeps no other callback waiting.
  private let files: BlockingThread

  package init(_ settings: CallbackSettings, host: CallbackHost, logger: Logger) {
    self.settings = settings
    self.host = host
    self.logger = logger
    files = BlockingThread("callback.\(settings.id)")
  }

  /// How many notices may be under way at once.
  package var concurrency: Int {
    switch settings.action {
    case .exec: 4
    case .file, .url, .open: 1
    }
  }

  /// Brings one notice; it has arrived when this returns, and may have arrived when it throws.
  ///
  /// - Throws: ``DeliveryFailure``, or `CancellationError` where the broker stops meanwhile.
  package func deliver(_ notice: Notice) async throws {
    let document = notice.document
    let bytes = try WireCoder.encode(document)
    switch settings.action {
    case .exec(let command):
      let program = NoticeProgram(
        callback: settings.id,
        command: command,
        host: host,
        logger: logger
      )
      try await program.run(document, bytes: bytes + [UInt8(ascii: "\n")])
    case .file(let path):
      let file = NoticeFile(path: path)
      let name = notice.id.description
      try await files.run { () throws(DeliveryFailure) in try file.add(bytes, named: name) }
    case .url, .open:
      throw DeliveryFailure("callbacks of this kind are not built yet")
    }
  }
}
