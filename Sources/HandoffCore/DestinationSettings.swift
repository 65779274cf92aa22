package import HandoffProtocol
package import Paths

/// What one destination is configured to be; the defaults are those of `config/handoff.toml`.
package struct DestinationSettings: Hashable, Sendable {
  package enum Transport: String, Hashable, Sendable, CaseIterable {
    case plugin
    case exec
    case http
    case url
    case file
  }

  package enum Containment: String, Hashable, Sendable, CaseIterable {
    case require
    case prefer
    case none
  }

  /// How an `http` receiver answers.
  package enum Answer: String, Hashable, Sendable, CaseIterable {
    /// The result comes later, signed, to `/v3/results`.
    case callback
    /// The status of the response is the answer.
    case status
  }

  package var name: DestinationName
  package var transport: Transport
  /// The program and its arguments, for `plugin` and `exec`, or the opener, for `url`.
  ///
  /// A program without a slash is looked for beside `handoff`, then on PATH; one with a slash is
  /// absolute.
  package var command: [String]
  /// Where requests go: an address for `http`, a scheme's URL for `url`.
  package var url: String?
  package var answer = Answer.callback
  /// Signs both ways, for `http`.
  package var secret: SecretReference?
  /// The secret before this one, while it is being changed: requests are signed with both, and results
  /// with either are taken.
  package var oldSecret: SecretReference?
  /// Absolute; where `file` puts its copies.
  package var inbox: BytePath?
  package var idle: Duration = .seconds(600)
  package var ceiling: Duration = .seconds(86_400)
  package var retry = RetryPolicy(
    limit: .seconds(86_400),
    first: .seconds(2),
    maximum: .seconds(900)
  )
  package var concurrency = 2
  package var quota: Quota?
  /// Destinations that must have succeeded for the asset first.
  package var after: [DestinationName] = []
  /// The name of the rendition that is given instead of the original; nil for the original.
  package var rendition: RenditionName?
  /// A person approves each handoff.
  package var approval = false
  /// Limited to assets seen in these drop folders; empty: all.
  package var folders: [BytePath] = []
  package var containment = Containment.prefer
  package var network = false
  /// Absolute.
  package var read: [BytePath] = []
  /// Absolute.
  package var write: [BytePath] = []
  /// Names of environment variables it is given.
  package var env: [String] = []
  package var protocolVersions: [Int] = [1, 2, 3]
  package var constraints = Constraints()
  package var settings: JSONValue = .object([:])

  package init(name: DestinationName, transport: Transport, command: [String]) {
    self.name = name
    self.transport = transport
    self.command = command
  }
}

/// At most a number of submissions within any stretch of a duration.
package struct Quota: Hashable, Sendable {
  package var count: Int
  package var duration: Duration

  package init(count: Int, duration: Duration) {
    self.count = count
    self.duration = duration
  }
}
