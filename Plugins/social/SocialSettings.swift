import FoundationEssentials
import Glibc
import HandoffPluginKit
import HandoffProtocol
import LinuxSystem
import Paths

/// The settings of a social destination.
struct SocialSettings: Decodable, Sendable {
  /// The server's base URL, for example `https://mastodon.social`.
  var server: String
  /// The name of the environment variable that holds the access token; it must be in the
  /// destination's `env`.
  var tokenEnv: String?
  /// The file that holds the access token; it must be in the destination's `read`.
  var tokenFile: String?
  /// `public`, `unlisted`, `private` or `direct`; the account's default where it is missing.
  var visibility: String?
  /// ISO 639 code of the title's language.
  var language: String?
  /// Seconds between two questions whether an upload is ready; 2.
  var pollInterval: Double?
  /// Seconds that an upload may take to be ready; 600.
  var pollLimit: Double?

  private enum CodingKeys: String, CodingKey {
    case server
    case tokenEnv = "token_env"
    case tokenFile = "token_file"
    case visibility
    case language
    case pollInterval = "poll_interval_s"
    case pollLimit = "poll_limit_s"
  }

  private static let longestToken = 4096

  /// Throws `not_configured` for what cannot work.
  func check() throws(ResultError) {
    let isSecure = server.hasPrefix("https://")
    let isLocal = ["http://127.0.0.1", "http://localhost", "http://[::1]"].contains { start in
      server.hasPrefix(start) && [nil, ":", "/"].contains(server.dropFirst(start.count).first)
    }
    guard isSecure || isLocal else {
      throw .notConfigured("settings.server is neither https:// nor a server of this machine")
    }
    if let visibility, !["public", "unlisted", "private", "direct"].contains(visibility) {
      throw .notConfigured("settings.visibility is not public, unlisted, private or direct")
    }
    guard (tokenEnv == nil) != (tokenFile == nil) else {
      throw .notConfigured("settings needs token_env or token_file, and not both")
    }
  }

  /// The access token, which is never part of an error.
  func token(_ context: DestinationContext) throws(ResultError) -> String {
    let text: String
    if let tokenEnv {
      guard let value = context.environmentVariable(tokenEnv) else {
        throw .notConfigured("the environment variable \(tokenEnv) is not there; is it in `env`?")
      }
      text = value
    } else {
      text = try readToken(BytePath(tokenFile ?? ""))
    }
    let token = text.trimmingSpace
    // Anything else could not stand in a header.
    guard !token.isEmpty, token.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
      throw .notConfigured("the access token is empty or has characters that no token has")
    }
    return token
  }

  private func readToken(_ path: BytePath) throws(ResultError) -> String {
    do throws(SystemError) {
      let file = try FileDescriptor.open(path, O_RDONLY | O_NONBLOCK)
      return String(decoding: try file.readAll(limit: Self.longestToken), as: UTF8.self)
    } catch {
      throw .notConfigured("settings.token_file: \(error)")
    }
  }
}

extension String {
  fileprivate var trimmingSpace: String {
    var rest = self[...]
    while let last = rest.last, last.isWhitespace { rest.removeLast() }
    while let first = rest.first, first.isWhitespace { rest.removeFirst() }
    return String(rest)
  }
}
