package import HandoffProtocol
package import Paths

/// What one drop folder is configured to do; the defaults are those of `config/handoff.toml`.
package struct DropFolderSettings: Hashable, Sendable {
  /// What happens to an original.
  package enum Original: String, Hashable, Sendable {
    case keep
    case remove
    case move
  }

  /// What happens to exports that are there when a folder is seen for the first time.
  package enum Existing: String, Hashable, Sendable {
    case `import`
    case ignore
  }

  /// Absolute.
  package var path: BytePath
  package var recursive = true
  package var existing = Existing.import
  package var quiet: Duration = .seconds(1)
  package var quietPoll: Duration = .seconds(60)
  package var giveUp: Duration = .seconds(600)
  package var pollInterval: Duration = .seconds(5)
  /// Shell patterns of names (fnmatch(3)) besides the built-in temporary names.
  package var ignore: [String] = []
  package var original = Original.keep
  /// The original is touched only once every handoff of it has succeeded.
  package var originalWaitsForHandoffs = false
  /// Absolute; only with ``Original/move``.
  package var moveTo: BytePath?
  package var handoff: [DestinationName] = []
  package var syncPublishTo: [DestinationName] = []
  package var publishByDefault = false
  package var callback: CallbackID?

  package init(path: BytePath) {
    self.path = path
  }
}

/// What one destination is configured to be.
package struct DestinationSettings: Hashable, Sendable {
  package enum Transport: String, Hashable, Sendable {
    case plugin
    case exec
  }

  package enum Containment: String, Hashable, Sendable {
    case require
    case prefer
    case none
  }

  package var name: DestinationName
  package var transport: Transport
  /// The program and its arguments; a name without a slash is looked for beside `handoff`, then on PATH.
  package var command: [String]
  package var idle: Duration = .seconds(600)
  package var ceiling: Duration = .seconds(86_400)
  package var retry = RetryPolicy(
    limit: .seconds(86_400),
    first: .seconds(2),
    maximum: .seconds(900)
  )
  package var concurrency = 2
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
