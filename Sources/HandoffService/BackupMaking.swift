import Glibc
package import HandoffConfig
package import HandoffControl
import HandoffCore
import HandoffProtocol
import Ledger
import LinuxSystem
package import Paths

/// Makes a backup of the ledger while the broker is down or up.
///
/// It reads the ledger beside the broker, needs nothing of it, and holds it up in nothing. The library is not
/// copied.
package struct BackupMaking: Sendable {
  let configuration: Configuration
  let configurationFile: BytePath
  let target: BytePath
  let isDated: Bool
  let withKey: Bool
  let progress: CheckProgress

  /// - Parameters:
  ///   - configuration: whose state folder is copied.
  ///   - configurationFile: copied too.
  ///   - target: new or empty; see `isDated`.
  ///   - isDated: make a folder inside that is named by the moment.
  ///   - withKey: copy the key of the state tokens too.
  ///   - progress: counts pages.
  package init(
    _ configuration: Configuration,
    file configurationFile: BytePath,
    target: BytePath,
    isDated: Bool,
    withKey: Bool,
    progress: CheckProgress
  ) {
    self.configuration = configuration
    self.configurationFile = configurationFile
    self.target = target
    self.isDated = isDated
    self.withKey = withKey
    self.progress = progress
  }

  /// - Throws: ``ControlError`` with `notFound` where there is no ledger, with `refused` for a folder that has
  ///   something in it; what the ledger or the system says. Nothing of the backup is left then.
  package func run() async throws -> BackupReport {
    try await progress.failing {
      let report = try await Self.thread.run { try make() }
      progress.change { $0.state = .done }
      return report
    }
  }

  private func make() throws -> BackupReport {
    let state = configuration.broker.state
    guard try Ledger.hasTraces(in: state) else {
      throw ControlError(.notFound, "there is no ledger in \(state.displayText)")
    }
    let moment = SystemClock.now()
    let folder = isDated ? BackupFolder.dated(moment, in: target) : BackupFolder(target)
    let hold = try folder.begin()
    defer { withExtendedLifetime(hold) {} }
    do {
      let manifest = try fill(folder, at: moment)
      try folder.complete(manifest)
      return BackupReport(folder.path, manifest)
    } catch {
      do {
        try folder.abandon()
      } catch let second {
        throw ControlError(
          .failed,
          "\(error); what was begun is left in \(folder.path.displayText): \(second)"
        )
      }
      throw error
    }
  }

  private func fill(_ folder: BackupFolder, at moment: Timestamp) throws -> BackupManifest {
    let backup = LedgerBackup(
      directory: configuration.broker.state,
      target: folder.partial,
      withKey: withKey
    )
    var shown = ContinuousClock.now
    let contents = try backup.run { done, total in
      // Each report wakes who follows it; a step takes less than a millisecond.
      guard done == total || shown.duration(to: .now) > .milliseconds(100) else { return }
      shown = .now
      progress.change { report in
        report.objects = done
        report.objectsTotal = total
      }
    }
    let bytes = try FileDescriptor.open(configurationFile, O_RDONLY).readAll(limit: 4 << 20)
    try DurableFile.write(bytes, to: folder.partial.appending("handoff.toml"))
    let ledger = folder.partial.appending("ledger.db")
    var manifest = BackupManifest(madeAt: moment, version: Version.text, withKey: withKey)
    manifest.schema = contents.schema
    manifest.libraryID = contents.libraryID
    manifest.events = contents.events
    manifest.assets = contents.assets
    manifest.handoffs = contents.handoffs
    manifest.openHandoffs = contents.openHandoffs
    manifest.keyID = contents.keyID
    manifest.size = try FileStatus.of(ledger)?.size ?? 0
    manifest.sha256 = try FileDigest.of(ledger).hexDigits
    return manifest
  }

  private static let thread = BlockingThread("backup")
}
