package import HandoffProtocol
package import Paths

/// What one drop folder is configured to do; the defaults are those of `config/handoff.toml`.
package struct DropFolderSettings: Hashable, Sendable {
  /// What happens to an original.
  package enum Original: String, Hashable, Sendable, CaseIterable {
    case keep
    case remove
    case move
  }

  /// What happens to exports that are there when a folder is seen for the first time.
  package enum Existing: String, Hashable, Sendable, CaseIterable {
    case `import`
    case ignore
  }

  /// What else must be there before a file counts as finished.
  package enum Proof: String, Hashable, Sendable, CaseIterable {
    /// The evidence of lease and container, or two equal looks where there is no lease.
    case auto
    /// It got its name by a rename.
    case rename
    /// `NAME.done` lies beside it.
    case marker
    /// `NAME.sha256` or `NAME.md5` lies beside it and agrees.
    case checksum
  }

  /// How changes are noticed.
  package enum Watch: String, Hashable, Sendable, CaseIterable {
    case auto
    case events
    case poll
  }

  /// What becomes of handoffs that were not yet submitted when their export is exported again.
  package enum OnSupersede: String, Hashable, Sendable, CaseIterable {
    case hold
    case replace
    case both
  }

  /// Absolute.
  package var path: BytePath
  package var recursive = true
  package var existing = Existing.import
  package var quiet: Duration = .seconds(1)
  /// Between two equal looks, where no lease can be had and the format has no end mark.
  package var quietPoll: Duration = .seconds(60)
  package var proof = Proof.auto
  package var giveUp: Duration = .seconds(600)
  package var watch = Watch.auto
  package var pollInterval: Duration = .seconds(5)
  /// Shell patterns of names (fnmatch(3)) besides the writers' temporary names.
  package var ignore: [String] = []
  /// Whose temporary names and habits are known: the built-in writers and those of the configuration.
  package var writers = WriterProfile.builtIn
  /// Extensions of containers, best first, of which one is taken among files of one stem.
  package var prefer: [String] = []
  /// How long a finished export waits for one of its stem that would be preferred.
  package var preferWait: Duration = .seconds(600)
  /// How long an export waits for its sidecar file.
  package var sidecarWait: Duration = .zero
  /// A directory that arrives is one request.
  package var package = false
  package var original = Original.keep
  /// The original is touched only once every handoff of it has succeeded.
  package var originalWaitsForHandoffs = false
  /// Absolute; only with ``Original/move``.
  package var moveTo: BytePath?
  package var handoff: [DestinationName] = []
  package var syncPublishTo: [DestinationName] = []
  package var publishByDefault = false
  package var onSupersede = OnSupersede.hold
  package var callback: CallbackID?

  package init(path: BytePath) {
    self.path = path
  }
}
