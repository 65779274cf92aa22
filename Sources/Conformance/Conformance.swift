package import HandoffProtocol
package import Paths

/// Plays the broker against a plugin, and finds out whether it keeps the protocol.
///
/// Each check has a process and folders of its own, so that one that fails takes no other with it. The
/// plugin is not contained: what it may do on this machine is up to whoever runs the kit.
package struct Conformance: Sendable {
  /// How long the kit waits.
  package struct Limits: Sendable {
    /// For the answer to `discover`.
    package var discovery = Duration.seconds(10)
    /// For every other answer.
    package var answer = Duration.seconds(10)
    /// For a result.
    package var result = Duration.seconds(60)
    /// For the end of the process.
    package var end = Duration.seconds(10)
    /// For what must not come.
    package var silence = Duration.milliseconds(300)

    /// The usual limits.
    package init() {}
  }

  /// Absolute.
  let executable: BytePath
  /// The plugin's `settings` table; nil for what its own schema proposes.
  let settings: JSONValue?
  /// Variables that the plugin is given besides those of the protocol.
  let variables: [String: String]
  /// `PATH` for the plugin.
  let searchPath: String
  /// Makes folders.
  let folders: TrialFolders
  /// Marks the plugin's processes.
  let mark: String
  /// The checks to make besides the introduction; empty for all.
  let only: Set<CheckName>
  /// The author's own video; nil for the kit's.
  let video: GivenVideo?
  let limits: Limits

  /// Prepares the kit; the mark is a value that no other run has.
  package init(
    executable: BytePath,
    settings: JSONValue?,
    variables: [String: String],
    searchPath: String,
    temporary: BytePath,
    mark: String,
    only: Set<CheckName> = [],
    video: GivenVideo? = nil,
    limits: Limits = Limits()
  ) {
    self.executable = executable
    self.settings = settings
    self.variables = variables
    self.searchPath = searchPath
    folders = TrialFolders(in: temporary)
    self.mark = mark
    self.only = only
    self.video = video
    self.limits = limits
  }

  /// Makes all checks.
  ///
  /// - Parameter onEntry: told of each as it is made.
  /// - Returns: how each went.
  /// - Throws: ``ConformanceError`` and `SystemError` where the kit itself cannot work.
  package func run(
    onEntry: @escaping @Sendable (ConformanceReport.Entry) -> Void = { _ in }
  ) async throws -> ConformanceReport {
    let ledger = CheckLedger(onEntry: onEntry)
    do {
      try await check(ledger)
    } catch is StartsNoMore {
      // Noted where it was seen.
    }
    ledger.settle()
    try leftovers(ledger)
    return ledger.finish(isWhole: only.isEmpty)
  }

  private func check(_ ledger: CheckLedger) async throws {
    if let profile = try await IntroductionChecks(plugin: self, ledger: ledger).run() {
      let stage = CheckStage(plugin: self, profile: profile, ledger: ledger)
      try await LineChecks(stage: stage).run()
      try await RefusalChecks(stage: stage).run()
      try await HandoffChecks(stage: stage).run()
      try await EndingChecks(stage: stage).run()
    }
  }

  /// Breaks a run off: ends the plugin's processes and removes the folders.
  ///
  /// The run itself never ends then.
  package func abandon() throws {
    folders.close()
    Strays.end(try Strays.find(mark))
    folders.remove()
  }

  private func leftovers(_ ledger: CheckLedger) throws {
    let strays = try Strays.find(mark)
    Strays.end(strays)
    guard let stray = strays.first else { return ledger.add(.leftovers, .passed) }
    let finding = Finding(
      "\(strays.count) processes were left, for example \(stray.name) (\(stray.id))",
      mend:
        "End what the plugin starts before it ends itself, and start nothing in a session of its "
        + "own (setsid)."
    )
    ledger.add(.leftovers, .failed(finding))
  }
}

/// What the plugin said of itself.
struct PluginProfile: Sendable {
  var versions: [Int]
  var constraints: Constraints
  var capabilities: Set<String>
  var schema: JSONValue?
  /// Settings that nobody has given and the kit cannot make up.
  var missingSettings: [String]

  /// The highest version that the kit can write too.
  var version: Int { versions.filter { (1...3).contains($0) }.max() ?? 3 }
  /// It has what it needs to do handoffs.
  var isConfigured: Bool { missingSettings.isEmpty }
}
