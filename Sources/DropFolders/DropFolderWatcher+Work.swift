import HandoffCore
import HandoffLog
import HandoffProtocol
import LinuxSystem
import Paths

/// One look, and the import that may follow it.
extension DropFolderWatcher {
  func process(_ look: SettleTracker.Look) async {
    await settle(look)
    workHasEnded()
    await nameWriters()
  }

  /// Has the ledger told of a package.
  func record(_ arrival: PackageArrival) async {
    let packager = surroundings.packager
    // Not cut off by the end of the watcher, as an import is not.
    let outcome = await Task { await packager(arrival) }.value
    tracker.packaged(arrival.path, outcome, at: moment)
    tellChanges()
    wake()
  }

  private func settle(_ look: SettleTracker.Look) async {
    let folder = settings[look.folder]
    if look.isTransfer { return await seeTransfer(look, folder) }
    if let identity = look.existing {
      let finding = await existing(look, identity)
      _ = tracker.examined(look.path, finding, at: moment)
      return
    }
    switch await examiner.examine(look.path, beneath: folder.path) {
    case .found(.openForWriting(ExportExaminer.isOpen)):
      _ = tracker.examined(look.path, .openForWriting(writers(of: look)), at: moment)
    case .found(let finding):
      _ = tracker.examined(look.path, finding, at: moment)
    case .opened(let opened):
      // Whatever follows, the file is free again after it.
      defer { opened.lease?.release() }
      let finding = await judge(look, opened)
      guard tracker.examined(look.path, finding, at: moment) == .importNow,
        case .judged(let verdict, _, _, let beside) = finding
      else { return }
      tellChanges()
      let outcome = await take(look, opened, verdict, beside, folder)
      tracker.imported(look.path, outcome, at: moment)
    }
  }

  private func seeTransfer(_ look: SettleTracker.Look, _ folder: DropFolderSettings) async {
    do {
      let status = try await examiner.status(of: look.path, beneath: folder.path)
      tracker.transferSeen(look.path, status?.identity, at: moment)
    } catch {
      tracker.transferSeen(look.path, nil, at: moment)
      logger.warning(
        "it is not known whether a transfer goes on",
        [.exportPath: look.path.displayText, .error: "\(error)"]
      )
    }
  }

  /// Who writes is searched once, when a file begins to be open; after that when somebody asks.
  private func writers(of look: SettleTracker.Look) -> String {
    if let known = look.writers, known != ExportExaminer.isOpen { return known }
    unnamed.insert(look.path)
    return ExportExaminer.isOpen
  }

  /// Searches after the look has ended, so that it keeps nobody waiting, and for all files at once.
  private func nameWriters() async {
    guard !isNaming else { return }
    isNaming = true
    defer { isNaming = false }
    while !unnamed.isEmpty, !Task.isCancelled {
      let paths = Array(unnamed)
      unnamed = []
      for (path, sentence) in await writerSearch.sentences(for: paths) {
        tracker.nameWriters(of: path, sentence, at: moment)
      }
      tellChanges()
    }
  }

  /// A file that was there before its folder was seen is left alone, unless it is an asset's.
  private func existing(
    _ look: SettleTracker.Look,
    _ identity: FileIdentity
  ) async -> CandidateFinding {
    do {
      let identifier = try await surroundings.known(look.path, identity)
      return identifier.map { .known($0, identity) } ?? .existing
    } catch {
      return Self.unanswered(error, identity, .looks("it was not opened"))
    }
  }

  private static func unanswered(
    _ error: any Error,
    _ identity: FileIdentity,
    _ proof: CandidateFinding.WriterProof
  ) -> CandidateFinding {
    let evidence = Evidence(.probe, passed: false, "the ledger could not be asked: \(error)")
    return .judged(ProbeVerdict(.failed, evidence: [evidence]), identity, proof)
  }

  private func judge(
    _ look: SettleTracker.Look,
    _ opened: ExportExaminer.Opened
  ) async -> CandidateFinding {
    let identity = opened.identity
    do {
      if let identifier = try await surroundings.known(look.path, identity) {
        return .known(identifier, identity)
      }
      if let other = try await surroundings.outdone(look.path, identity) {
        return .outdone(by: other, identity)
      }
    } catch {
      return Self.unanswered(error, identity, opened.proof)
    }
    if identity.size == 0 {
      let evidence = Evidence(.structure, passed: false, "the file is empty")
      return .judged(ProbeVerdict(.incomplete, evidence: [evidence]), identity, opened.proof)
    }
    // Without a lease the same identity proves too little to save a probe.
    let isSame = opened.proof == .lease && look.judged?.identity == identity
    let earlier = isSame ? look.judged?.verdict : nil
    let verdict: ProbeVerdict
    if let earlier {
      verdict = earlier
    } else {
      verdict = await surroundings.probe(opened.file, identity.size)
    }
    if opened.lease?.isBroken == true {
      return .openForWriting("a process has begun to write to it")
    }
    let folder = settings[look.folder]
    let beside = await examiner.proof(
      folder.proof,
      of: look.path,
      identity,
      beneath: folder.path
    )
    return .judged(verdict, identity, opened.proof, beside)
  }

  private func take(
    _ look: SettleTracker.Look,
    _ opened: ExportExaminer.Opened,
    _ verdict: ProbeVerdict,
    _ beside: ProofFinding,
    _ folder: DropFolderSettings
  ) async -> ImportOutcome {
    guard let facts = verdict.facts, let relative = look.path.relative(to: folder.path) else {
      let reason = "the probe called it whole, but said nothing of its content"
      return .failed(reason: reason, state: .refused, mayPass: false)
    }
    var export = SettledExport(
      folder: folder,
      path: look.path,
      relativePath: relative,
      opened: opened,
      facts: facts,
      evidence: tracker.report(for: look.path)?.evidence ?? verdict.evidence
    )
    if case .claimed(let checksum) = beside { export.checksum = checksum }
    export.sidecarWait = tracker.sidecarWait(of: look.path, at: moment)
    export.cameByRename = tracker.cameByRename(look.path)
    let importer = surroundings.importer
    let settled = export
    // A task of its own, awaited at once: an import that has begun is not cut off by the end of the
    // watcher, so that library and ledger are not left half way.
    return await Task { await importer(settled) }.value
  }
}
