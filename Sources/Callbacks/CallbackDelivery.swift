import HTTPClient
package import HandoffCore
package import HandoffLog
package import HandoffProtocol
import LinuxSystem
package import Webhooks

/// Brings notices to one configured callback, however it is reached.
package struct CallbackDelivery: Sendable {
  private let settings: CallbackSettings
  private let host: CallbackHost
  private let secrets: [WebhookSecret]
  private let client: HTTPClient
  private let now: @Sendable () -> Timestamp
  private let logger: Logger
  /// Of its own, so that a file on a disk that hangs keeps no other callback waiting.
  private let files: BlockingThread

  /// - Parameters:
  ///   - settings: the callback.
  ///   - host: the machine's part.
  ///   - secrets: what signs a POST, the present one first; not empty for `url`.
  ///   - now: the present moment.
  ///   - logger: hears what programs print.
  package init(
    _ settings: CallbackSettings,
    host: CallbackHost,
    secrets: [WebhookSecret],
    now: @escaping @Sendable () -> Timestamp,
    logger: Logger
  ) {
    self.settings = settings
    self.host = host
    self.secrets = secrets
    self.now = now
    self.logger = logger
    client = HTTPClient(agent: host.agent)
    files = BlockingThread("callback.\(settings.id)")
  }

  /// How many notices may be under way at once.
  package var concurrency: Int {
    switch settings.action {
    case .exec, .url: 4
    case .file, .open: 1
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
    case .url(let address):
      guard !secrets.isEmpty else { throw DeliveryFailure("there is no secret to sign it with") }
      let post = NoticePost(
        address: address,
        callback: settings.id,
        signer: WebhookSigner(secrets),
        client: client,
        now: now
      )
      try await post.send(bytes, id: notice.id.description)
    case .open(let base):
      guard let url = try NoticeLink(base).url(for: document) else {
        throw DeliveryFailure("the configured URL leaves no room for a notice", .never)
      }
      let opener = NoticeOpener(
        callback: settings.id,
        command: settings.command,
        host: host,
        logger: logger
      )
      try await opener.open(url)
    }
  }
}
