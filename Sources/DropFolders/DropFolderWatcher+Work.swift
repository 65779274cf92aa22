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
    switch await examiner.examine(look.path, beneath: folder.path) {
    case .found(let finding):
      _ = tracker.examined(look.path, finding, at: moment)
    case .opened(let opened):
      // Whatever follows, the file is free again after it.
      defer { opened.lease?.release() }
      let finding = await judge(look, opened)
      guard tracker.examined(look.path, finding, at: moment) == .importNow,
        case .judged(let verdict, _, _) = finding
      else { return }
      tellChanges()
      let outcome = await take(look, opened, verdict, folder)
      tracker.imported(look.path, outcome, at: moment)
    }
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
      let evidence = Evidence(.probe, passed: false, "the ledger could not be asked: \(error)")
      return .judged(ProbeVerdict(.failed, evidence: [evidence]), identity, opened.proof)
    }
    if identity.size == 0 {
      let evidence = Evidence(.structure, passed: false, "the file is empty")
      return .judged(ProbeVerdict(.incomplete, evidence: [evidence]), identity, opened.proof)
    }
    // Without a lease the same identity proves too little to save a probe.
    let isSame = opened.lease != nil && look.judged?.identity == identity
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
    return .judged(verdict, identity, opened.proof)
  }

  private func take(
    _ look: SettleTracker.Look,
    _ opened: ExportExaminer.Opened,
    _ verdict: ProbeVerdict,
    _ folder: DropFolderSettings
  ) async -> ImportOutcome {
    guard let facts = verdict.facts, let relative = look.path.relative(to: folder.path) else {
      let reason = "the probe called it whole, but said nothing of its content"
      return .failed(reason: reason, state: .refused, mayPass: false)
    }
    let export = SettledExport(
      folder: folder,
      path: look.path,
      relativePath: relative,
      opened: opened,
      facts: facts,
      evidence: tracker.report(for: look.path)?.evidence ?? verdict.evidence
    )
    let importer = surroundings.importer
    // A task of its own, awaited at once: an import that has begun is not cut off by the end of the
    // watcher, so that library and ledger are not left half way.
    return await Task { await importer(export) }.value
  }
}
