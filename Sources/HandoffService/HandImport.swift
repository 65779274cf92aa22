import AssetLibrary
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
struct HandImport: Sendable {
  let library: AssetLibrary
  let ledger: Ledger
  let probe: MediaProbe
  let leases: LeaseKeeper
  let files: BlockingThread
  let now: @Sendable () -> Timestamp
  let logger: Logger

  func run(_ parameters: ImportParameters) async throws -> AssetReport {
    let path = parameters.path
    let (file, identity) = try await open(path)
    let lease = try lease(file, path)
    defer { lease?.release() }
    let verdict = await probe.verdict(for: file, size: identity.size)
    let facts = try facts(
      verdict,
      path,
      acceptIncomplete: parameters.acceptIncomplete,
      hasLease: lease != nil
    )
    let resource = try await library.importResource(
      from: file,
      path: path,
      expecting: identity,
      mode: parameters.take ? .take : .copy,
      isStillGood: { !(lease?.isBroken ?? false) }
    )
    let sighting = Sighting(
      path: path,
      folder: Sighting.byHand,
      identity: identity,
      seenAt: now()
    )
    let asset = try await AssetIntake(library: library, logger: logger)
      .asset(of: resource, facts: facts, seen: sighting)
    let record = try await ledger.recordImport(asset: asset, sighting: sighting, orders: [])
    logger.notice(
      "Imported by hand",
      [.exportPath: path.displayText, .assetID: record.localIdentifier.text]
    )
    if parameters.take {
      _ = try await library.removeSource(path, identity: identity, of: asset.digest)
    }
    guard let recorded = try await ledger.asset(record.localIdentifier) else {
      throw ControlError(.failed, "the ledger lost \(record.localIdentifier)")
    }
    return AssetReport(recorded)
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
      throw ControlError(error.errno == ENOENT ? .notFound : .failed, error.description)
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

  private func facts(
    _ verdict: ProbeVerdict,
    _ path: BytePath,
    acceptIncomplete: Bool,
    hasLease: Bool
  ) throws -> MediaFacts {
    switch verdict.judgement {
    case .complete:
      if let facts = verdict.facts { return facts }
    case .notProvable:
      if let facts = verdict.facts, hasLease || acceptIncomplete { return facts }
      throw ControlError(
        .refused,
        "\(path.displayText): its format has no end mark and no lease is to be had here, so nobody "
          + "can tell that it is finished; --accept-incomplete takes it all the same"
      )
    case .incomplete, .unsuitable, .failed:
      if acceptIncomplete { return verdict.facts ?? .unknown }
    }
    let reason = verdict.reason ?? "nothing is known of it"
    throw ControlError(.refused, "\(path.displayText) is not a finished video: \(reason)")
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
