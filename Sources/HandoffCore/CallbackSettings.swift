package import HandoffProtocol
package import Paths

/// Where one callback id leads.
package struct CallbackSettings: Hashable, Sendable {
  /// How a notice is brought there.
  package enum Action: Hashable, Sendable {
    /// A program and its arguments, with `{title}`, `{result}` and so on replaced in them.
    case exec([String])
    /// A signed POST.
    case url(String)
    /// A URL of the sender's own scheme, opened with the notice as query members.
    case open(String)
    /// Absolute; a file in which a line is added for each notice, or a folder that gets a file for each.
    case file(BytePath)
  }

  package var id: CallbackID
  package var action: Action
  /// Signs the notices of ``Action/url(_:)``.
  package var secret: SecretReference?
  /// The secret before this one, while it is being changed: notices are signed with both.
  package var oldSecret: SecretReference?
  /// Opens the URLs of ``Action/open(_:)``: a program, and arguments before the URL.
  package var command: [String]

  /// What opens URLs where nothing else is said.
  package static let opener = ["xdg-open"]

  package init(
    id: CallbackID,
    action: Action,
    secret: SecretReference? = nil,
    oldSecret: SecretReference? = nil,
    command: [String] = opener
  ) {
    self.id = id
    self.action = action
    self.secret = secret
    self.oldSecret = oldSecret
    self.command = command
  }
}

/// Where a secret is to be had: the configuration never holds one.
package enum SecretReference: Hashable, Sendable {
  /// The name of an environment variable.
  case env(String)
  /// Absolute.
  case file(BytePath)
  /// The name of a systemd credential (systemd.exec(5), LoadCredential=).
  case credential(String)
}
