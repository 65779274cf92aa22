import AssetLibrary
import DropFolders
import Glibc
import HandoffControl
import HandoffCore
import HandoffLog
import HandoffProtocol
import Ledger
import LinuxSystem
import MediaProbe
import Paths

/// Imports by hand: the same proofs, at once, and the answer to whoever asks.
///
/// What a drop folder has refused, or not yet proven, and a person takes all the same, goes the way of
/// its folder: the person has said that it is finished, and nothing else was in its way.
struct HandImport: Sendable {
  let library: AssetLibrary
  let ledger: Ledger
  let probe: MediaProbe
  let leases: LeaseKeeper
  let files: BlockingThread
  let watcher: DropFolderWatcher
  let intake: ImportStage
  let now: @Sendable () -> Timestamp
  let logger: Logger

  /// What is imported: the open file, and what is known of it.
  private struct Source {
    let path: BytePath
    let file: FileDescriptor
    let identity: FileIdentity
    let lease: FileLease?
    let facts: MediaFacts
    /// Nil where the checks passed.
    let acceptance: Acceptance?
  }

  /// Imports one file for the peer that asks.
  func run(_ parameters: ImportParameters, from peer: ControlPeer) async throws -> AssetReport {
    // What the ledger remembers must not be one of many ways to write the path.
    let given = parameters.path
    let path = given.isPlain ? given : resolved(given.parent).appending(given.lastComponent)
    let (file, identity) = try await open(path)
    let lease = try lease(file, path)
    defer { lease?.release() }
    let verdict = await probe.verdict(for: file, size: identity.size)
    let listed = parameters.acceptIncomplete ? await listed(path) : nil
    let (facts, findings) = judge(verdict, hasLease: lease != nil, doubt: listed?.doubt)
    if let findings, !parameters.acceptIncomplete {
      throw ControlError(
        .refused,
        "\(path.displayText) is not provably a finished video: \(findings); --accept-incomplete "
          + "takes it all the same"
      )
    }
    let source = Source(
      path: path,
      file: file,
      identity: identity,
      lease: lease,
      facts: facts,
      acceptance: findings.map { Acceptance(at: now(), by: peer.user, findings: $0) }
    )
    let identifier: LocalIdentifier
    var warning: String?
    if source.acceptance != nil, let listed {
      identifier = try await take(source, at: listed.path, in: listed.settings)
    } else {
      identifier = try await take(source, isMoved: parameters.take)
      if parameters.take { warning = await remove(source, of: identifier) }
    }
    guard let recorded = try await ledger.asset(identifier) else {
      throw ControlError(.failed, "the ledger lost \(identifier)")
    }
    var report = AssetReport(recorded)
    report.warning = warning
    return report
  }

  /// Removes a source whose asset the ledger has; what stands in the way, for the one who asked.
  private func remove(_ source: Source, of identifier: LocalIdentifier) async -> String? {
    do {
      guard let digest = try await ledger.asset(identifier)?.digest else { return nil }
      _ = try await library.removeSource(source.path, identity: source.identity, of: digest)
      return nil
    } catch {
      logger.warning(
        "The source of an import by hand could not be removed",
        [.exportPath: source.path.displayText, .error: "\(error)"]
      )
      return "\(source.path.displayText) is imported, but could not be removed: \(error)"
    }
  }

  /// Into the folder named `import`; nothing is handed off by itself.
  private func take(_ source: Source, isMoved: Bool) async throws -> LocalIdentifier {
    if let shortage = try await intake.brake.shortage(for: isMoved ? 0 : source.identity.size) {
      throw ControlError(.refused, "\(source.path.displayText): \(shortage)")
    }
    let lease = source.lease
    let resource = try await library.importResource(
      from: source.file,
      path: source.path,
      expecting: source.identity,
      mode: isMoved ? .take : .copy,
      isStillGood: { !(lease?.isBroken ?? false) }
    )
    let sighting = Sighting(
      path: source.path,
      folder: Sighting.byHand,
      identity: source.identity,
      seenAt: now()
    )
    let record = try await intake.turns.take(resource.digest) {
      let asset = try await AssetIntake(library: library, ledger: ledger, logger: logger)
        .asset(of: resource, facts: source.facts, seen: sighting, acceptance: source.acceptance)
      return try await ledger.recordImport(asset: asset, sighting: sighting, orders: [])
    }
    await AssetIntake(library: library, ledger: ledger, logger: logger)
      .recordLink(record, in: intake.turns)
    logger.notice(
      "Imported by hand",
      [.exportPath: source.path.displayText, .assetID: record.localIdentifier.text]
    )
    return record.localIdentifier
  }

  /// The way of its drop folder, with all that follows from it; then detection looks at it again and
  /// finds it imported.
  private func take(
    _ source: Source,
    at path: BytePath,
    in folder: DropFolderSettings
  ) async throws -> LocalIdentifier {
    let export = SettledExport(
      acceptedAt: path,
      in: folder,
      file: source.file,
      identity: source.identity,
      facts: source.facts,
      lease: source.lease
    )
    guard let export else { throw ControlError(.failed, "\(path.displayText) is in no folder") }
    let outcome = await intake.take(export, acceptance: source.acceptance)
    do {
      _ = try await watcher.judgeAgain(path)
    } catch {
      // The next listing finds it imported.
      logger.warning(
        "A file could not be looked at again after it was imported by hand",
        [.exportPath: path.displayText, .error: "\(error)"]
      )
    }
    switch outcome {
    case .imported(let identifier): return identifier
    case .changed:
      throw ControlError(.failed, "\(path.displayText) changed while it was imported")
    case .failed(let reason, .noSpace, _), .held(let reason, _, _):
      throw ControlError(.refused, "\(path.displayText): \(reason)")
    case .failed(let reason, _, _):
      throw ControlError(.failed, "\(path.displayText): \(reason)")
    }
  }

  /// A file that a drop folder knows and has not imported.
  private struct Listed {
    /// As the folder has it.
    let path: BytePath
    let settings: DropFolderSettings
    /// Why the folder does not take it; nil where it is about to.
    let doubt: String?
  }

  /// What its drop folder knows of a file; nil for a file outside, and for one whose name or kind makes
  /// it no export.
  private func listed(_ path: BytePath) async -> Listed? {
    for path in FolderPaths(intake.originals.folders.values).places(of: path) {
      guard let report = await watcher.report(for: path), report.state != .ignored,
        let settings = intake.originals.folders[report.folder]
      else { continue }
      let isDoubted = [.refused, .incomplete, .waitingProof].contains(report.state)
      let doubt = isDoubted ? report.reason ?? "its drop folder does not take it" : nil
      return Listed(path: path, settings: settings, doubt: doubt)
    }
    return nil
  }

  private func open(_ path: BytePath) async throws -> (FileDescriptor, FileIdentity) {
    do {
      return try await files.run {
        let file = try FileDescriptor.open(path, O_RDONLY | O_NONBLOCK | O_NOFOLLOW)
        let status = try file.status()
        guard status.kind == .regular else {
          throw ControlError(.refused, "\(path.displayText) is not a regular file")
        }
        return (file, status.identity)
      }
    } catch let error as SystemError {
      let isMissing = [ENOENT, ENOTDIR].contains(error.errno)
      throw ControlError(isMissing ? .notFound : .failed, error.description)
    }
  }

  private func lease(_ file: FileDescriptor, _ path: BytePath) throws -> FileLease? {
    switch leases.attempt(file) {
    case .held(let lease): return lease
    // No lease is to be had here: a person asks, so a person has looked.
    case .unavailable: return nil
    case .openForWriting:
      throw ControlError(.refused, "\(path.displayText) is still open for writing")
    }
  }

  /// What is known of its content, and what speaks against taking it.
  private func judge(
    _ verdict: ProbeVerdict,
    hasLease: Bool,
    doubt: String?
  ) -> (facts: MediaFacts, findings: String?) {
    let facts = verdict.facts ?? .unknown
    switch verdict.judgement {
    case .complete where verdict.facts != nil: return (facts, doubt)
    case .notProvable where verdict.facts != nil && hasLease: return (facts, doubt)
    case .notProvable:
      let findings =
        "its format has no end mark and no lease is to be had here, so nobody can tell that it is "
        + "finished"
      return (facts, doubt ?? findings)
    case .complete, .incomplete, .unsuitable, .failed:
      return (facts, doubt ?? verdict.reason ?? "nothing is known of it")
    }
  }
}

extension MediaFacts {
  /// Of a file that a person took as it is.
  fileprivate static let unknown = MediaFacts(
    container: "unknown",
    videoCodec: "unknown",
    width: 0,
    height: 0,
    rotation: 0,
    duration: 0,
    audioTracks: 0
  )
}
