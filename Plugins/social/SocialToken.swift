import Glibc
import HandoffPluginKit
import HandoffProtocol
import LinuxSystem
import Paths

/// Where the credential is: it is read anew each time, because it may have been replaced, and it is never part
/// of an error.
struct SocialToken: Sendable {
  private enum Place {
    /// An environment variable; it must be in the destination's `env`.
    case variable(String)
    /// A file; it must be in the destination's `read`.
    case file(String)
  }

  private static let longest = 4096
  private let place: Place

  init(variable: String?, file: String?) throws(ResultError) {
    switch (variable, file) {
    case (let variable?, nil): place = .variable(variable)
    case (nil, let file?): place = .file(file)
    default: throw .notConfigured("settings needs token_env or token_file, and not both")
    }
  }

  /// The credential.
  func read(_ context: DestinationContext) throws(ResultError) -> String {
    let token = try text(context).trimmingSpace
    // Anything else could not stand in a header.
    guard !token.isEmpty, token.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
      throw .notConfigured("the access token is empty or has characters that no token has")
    }
    return token
  }

  private func text(_ context: DestinationContext) throws(ResultError) -> String {
    switch place {
    case .variable(let name):
      guard let value = context.environmentVariable(name) else {
        throw .notConfigured("the environment variable \(name) is not there; is it in `env`?")
      }
      return value
    case .file(let path):
      do throws(SystemError) {
        let file = try FileDescriptor.open(BytePath(path), O_RDONLY | O_NONBLOCK)
        return String(decoding: try file.readAll(limit: Self.longest), as: UTF8.self)
      } catch {
        throw .notConfigured("settings.token_file: \(error)")
      }
    }
  }
}

extension String {
  /// Without white space at either end.
  var trimmingSpace: String {
    var rest = self[...]
    while let last = rest.last, last.isWhitespace { rest.removeLast() }
    while let first = rest.first, first.isWhitespace { rest.removeFirst() }
    return String(rest)
  }
}
