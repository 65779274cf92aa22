package import HandoffProtocol
package import Paths

extension SettleTracker {
  /// How long what is waited for.
  package struct Rules: Sendable {
    /// No event for this long, before a look is taken.
    package var quiet: Duration
    /// The least quiet after an event that does not say that the writer has let go: with `quiet = "0s"`
    /// a look at each of them would only meet the writer.
    package var unclosedQuiet: Duration = .milliseconds(250)
    /// The quiet of a format that declares no end, and of what looks like no video at all, where
    /// there is a lease.
    package var longQuiet: Duration = .seconds(5)
    /// Between two equal looks where no lease can be had.
    package var quietPoll: Duration
    /// An incomplete file is refused after this.
    package var giveUp: Duration
    /// The names that are no exports, and habits of writers.
    package var names: TemporaryNames
    /// Nil where every export counts for itself.
    package var preference: ContainerPreference?
    /// A directory that arrives directly in the folder is one request.
    package var hasPackages = false
    /// What else has to be there before a file counts as finished.
    package var proof = DropFolderSettings.Proof.auto
    /// How long an export waits for its sidecar after its last event.
    package var sidecarWait: Duration = .zero
    /// What has not changed since this moment is left alone; nil where everything is taken.
    package var ignoredUpTo: Timestamp?
    /// The first and the longest wait for another look at what only a change should make better: the
    /// cause may have been outside the file, where no event tells of its end.
    package var slowRetry: ClosedRange<Duration> = .seconds(600)...(.seconds(21_600))

    package init(
      quiet: Duration,
      quietPoll: Duration,
      giveUp: Duration,
      ignore: [ShellPattern] = []
    ) {
      self.quiet = quiet
      self.quietPoll = quietPoll
      self.giveUp = giveUp
      self.names = TemporaryNames(ignored: ignore)
    }

    /// A folder's rules; it was seen for the first time at `firstSeen`.
    package init(_ settings: DropFolderSettings, firstSeen: Timestamp? = nil) {
      self.init(
        quiet: settings.quiet,
        quietPoll: settings.quietPoll,
        giveUp: settings.giveUp
      )
      names = TemporaryNames(settings)
      preference = ContainerPreference(settings, remuxed: names.remuxed)
      hasPackages = settings.package
      proof = settings.proof
      sidecarWait = settings.sidecarWait
      if settings.existing == .ignore { ignoredUpTo = firstSeen }
    }

    /// It lies there since before the folder was first seen, and such files are not wanted.
    ///
    /// The inode's change time decides: nobody can set it.
    func ignoresExisting(_ identity: FileIdentity) -> Bool {
      guard let ignoredUpTo else { return false }
      return identity.changed / 1_000_000 <= ignoredUpTo.milliseconds
    }

    /// The least time between two equal looks that stand in for a lease.
    ///
    /// A container that shows its
    /// own end needs less of it than one that does not.
    func pause(isProvable: Bool) -> Duration {
      isProvable ? min(quietPoll, max(quiet, longQuiet)) : quietPoll
    }
  }
}

extension SettleTracker {
  /// - Parameters:
  ///   - folders: the drop folders; elsewhere they are named by their place here.
  ///   - firstSeen: when each was seen for the first time, by its path.
  package init(_ folders: [DropFolderSettings], firstSeen: [BytePath: Timestamp] = [:]) {
    self.init(
      folders: folders.map { (path: $0.path, rules: Rules($0, firstSeen: firstSeen[$0.path])) }
    )
  }
}
