import Glibc
import HandoffCore
import LinuxSystem
import Paths
import Webhooks

/// Reads secrets from where the configuration says that they are; it never holds one itself.
struct SecretReader: Sendable {
  /// This process's.
  let environment: [String: String]

  private static let longest = 4096
  private static let files = BlockingThread("secrets")

  /// The secrets behind some references, in their order.
  ///
  /// - Parameters:
  ///   - references: the present secret first, then the one before it.
  ///   - owner: what they are of, as `destination.hook`.
  /// - Returns: one secret for each reference.
  /// - Throws: ``ServiceError`` that names the place and never the secret.
  func secrets(
    _ references: [SecretReference?],
    of owner: String
  ) async throws(ServiceError) -> [WebhookSecret] {
    var secrets: [WebhookSecret] = []
    for reference in references.compactMap(\.self) {
      let (place, text) = try await text(of: reference, owner)
      do throws(WebhookSecretFault) {
        secrets.append(try WebhookSecret(text))
      } catch {
        throw ServiceError(.noSecret, "\(owner): the secret in \(place) cannot be used: \(error)")
      }
    }
    return secrets
  }

  private func text(
    of reference: SecretReference,
    _ owner: String
  ) async throws(ServiceError) -> (place: String, text: String) {
    switch reference {
    case .env(let name):
      guard let text = environment[name], !text.isEmpty else {
        throw ServiceError(.noSecret, "\(owner): the environment variable \(name) is not set")
      }
      return ("the environment variable \(name)", text)
    case .file(let path):
      return (path.displayText, try await contents(of: path, owner))
    case .credential(let name):
      guard let folder = environment["CREDENTIALS_DIRECTORY"] else {
        throw ServiceError(
          .noSecret,
          "\(owner): systemd gave this process no credentials, so there is none named \(name)"
        )
      }
      let path = BytePath(folder).appending(BytePath(name))
      return ("the credential \(name)", try await contents(of: path, owner))
    }
  }

  private func contents(
    of path: BytePath,
    _ owner: String
  ) async throws(ServiceError) -> String {
    do throws(SystemError) {
      let bytes = try await Self.files.run { () throws(SystemError) in
        try FileDescriptor.open(path, O_RDONLY).readAll(limit: Self.longest)
      }
      return String(decoding: bytes, as: UTF8.self)
    } catch {
      throw ServiceError(.noSecret, "\(owner): its secret cannot be read: \(error)")
    }
  }
}
