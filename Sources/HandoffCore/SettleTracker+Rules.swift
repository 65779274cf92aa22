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

    package init(_ settings: DropFolderSettings) {
      self.init(
        quiet: settings.quiet,
        quietPoll: settings.quietPoll,
        giveUp: settings.giveUp
      )
      names = TemporaryNames(settings)
      preference = ContainerPreference(settings, remuxed: names.remuxed)
      hasPackages = settings.package
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
