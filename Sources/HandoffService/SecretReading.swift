import Glibc
import HandoffCore
import LinuxSystem
import Paths
import Webhooks

/// Reads one secret from where its reference says; blocks.
struct SecretReading {
  /// Why there is no secret: a clause that never holds any of it.
  struct Fault: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) {
      self.description = description
    }
  }

  /// Set by the service manager; see systemd.exec(5), `LoadCredential=`.
  static let credentialsVariable = "CREDENTIALS_DIRECTORY"
  private static let largestFile = 4096

  let environment: [String: String]

  /// The secret, and what is doubtful about the way in which it is kept.
  func read(_ reference: SecretReference) throws(Fault) -> (WebhookSecret, warning: String?) {
    switch reference {
    case .env(let name):
      guard let value = environment[name] else {
        throw Fault("the environment variable \(name) is not set")
      }
      return (try secret(value, "the environment variable \(name)"), nil)
    case .file(let path):
      return try file(path)
    case .credential(let name):
      guard let folder = environment[Self.credentialsVariable], folder.hasPrefix("/") else {
        throw Fault(
          "there are no credentials: the service manager gives \(name) with LoadCredential="
        )
      }
      return (try file(BytePath(folder).appending(BytePath(name))).0, nil)
    }
  }

  private func file(_ path: BytePath) throws(Fault) -> (WebhookSecret, warning: String?) {
    let shown = path.displayText
    let bytes: [UInt8]
    let permissions: UInt32
    do throws(SystemError) {
      // Without O_NONBLOCK a FIFO would keep the start waiting for ever.
      let file = try FileDescriptor.open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY)
      let status = try file.status()
      guard status.kind == .regular else { throw SystemError(EINVAL, "read", path) }
      permissions = status.permissions
      bytes = try file.readAll(limit: Self.largestFile)
    } catch {
      throw Fault("\(shown) cannot be read: \(error)")
    }
    guard let text = String(validating: bytes, as: UTF8.self) else {
      throw Fault("\(shown) holds no secret: it is not UTF-8")
    }
    let isOpen = permissions & 0o004 != 0
    return (
      try secret(text, shown),
      isOpen ? "\(shown) can be read by every user of this machine; chmod o-r it" : nil
    )
  }

  private func secret(_ text: String, _ place: String) throws(Fault) -> WebhookSecret {
    do throws(WebhookSecretFault) {
      return try WebhookSecret(text)
    } catch {
      throw Fault("\(place) holds no secret: \(error)")
    }
  }
}
