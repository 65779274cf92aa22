import AssetLibrary
import Callbacks
import Destinations
import DropFolders
import HandoffConfig
import HandoffCore
import HandoffLog
import HandoffProtocol
import Ledger
import LinuxSystem
import MediaProbe
import Paths

/// What takes exports and what looks after their originals and records.
extension OpenedParts {
  func makeIntake() -> ImportStage {
    ImportStage(
      library: library,
      ledger: ledger,
      sidecars: sidecars,
      originals: originals,
      receipts: receipts,
      brake: IntakeBrake(library: library, settings: settings),
      turns: turns,
      results: results,
      settings: settings,
      hold: hold,
      now: SystemClock.now,
      logger: logger
    )
  }

  func makeWatcher(_ intake: ImportStage, _ troubles: TroubleStage) -> DropFolderWatcher {
    let packages = packageStage
    let narrator = CandidateNarrator(logger: logger)
    return DropFolderWatcher(
      folders: configuration.dropFolders,
      control: state.watchControl,
      keeper: leases,
      firstSeen: settings.now.firstSeen,
      surroundings: DropFolderWatcher.Surroundings(
        probe: { [probe] file, size in await probe.verdict(for: file, size: size) },
        known: { path, identity in try await intake.known(path, identity) },
        importer: { [suspects] export in
          await suspects.guarding(export.path, export.identity) { await intake.take(export) }
        },
        outdone: { path, identity in try await intake.outdone(path, identity) },
        packager: { arrival in await packages.record(arrival) },
        observer: { change in
          narrator.tell(change)
          troubles.tell(change)
        },
        now: SystemClock.now
      ),
      logger: logger
    )
  }

  var packageStage: PackageStage {
    PackageStage(
      ledger: ledger,
      sidecars: sidecars,
      originals: originals,
      receipts: receipts,
      settings: settings,
      hold: hold,
      logger: logger
    )
  }

  var sidecars: SidecarReader {
    SidecarReader(
      ledger: ledger,
      leases: leases,
      settings: settings,
      files: files
    )
  }

  var originals: OriginalStage {
    OriginalStage(
      library: library,
      ledger: ledger,
      settings: settings,
      turns: turns,
      hold: hold,
      logger: logger
    )
  }

  var deletion: AssetDeletion {
    AssetDeletion(
      library: library,
      ledger: ledger,
      results: results,
      turns: turns,
      leftovers: leftovers,
      logger: logger
    )
  }
}
