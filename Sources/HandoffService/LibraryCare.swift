import AssetLibrary
package import HandoffConfig
package import HandoffControl
import HandoffCore
package import HandoffLog
import HandoffProtocol
import Ledger
import LinuxSystem
import Paths

/// The library's care while no broker runs: the same work on the same files, under the broker's lock.
package struct LibraryCare: Sendable {
  private let configuration: Configuration
  private let lock: BrokerLock
  private let library: AssetLibrary
  private let ledger: Ledger
  private let logger: Logger

  /// Takes the lock and opens what is there; nothing is made.
  ///
  /// - Throws: ``ServiceError`` while a broker runs; ``ControlError`` where there is no ledger, and with
  ///   `unavailable` while the library is away.
  package static func open(
    _ configuration: Configuration,
    logger: Logger
  ) async throws -> LibraryCare {
    let state = StateFolder(configuration.broker.state)
    guard try Ledger.hasTraces(in: state.path) else {
      throw ControlError(
        .notFound,
        "there is no ledger in \(state.path.displayText); `handoff rebuild` makes one from the library"
      )
    }
    let lock = try BrokerLock(state)
    let ledger = try await Ledger.open(
      directory: state.path,
      logger: logger,
      now: SystemClock.now
    )
    let library: AssetLibrary
    do {
      let known = try await ledger.libraryID()
      library = try await openLibrary(configuration, expecting: known, logger)
    } catch {
      try await ledger.close()
      throw error
    }
    return LibraryCare(
      configuration: configuration,
      lock: lock,
      library: library,
      ledger: ledger,
      logger: logger
    )
  }

  /// Reads objects again; see ``CheckReport``.
  package func check(
    _ parameters: CheckParameters,
    progress: CheckProgress
  ) async throws -> CheckReport {
    try await progress.failing {
      if let identifier = parameters.localIdentifier {
        let known = try await ledger.objectKnowledge(of: identifier)
        guard let known, known.status != .deleted else {
          throw ControlError(.notFound, "there is no asset \(identifier)")
        }
      }
      try await check(progress, parameters.bytesPerSecond).run(parameters)
    }
    return progress.report
  }

  private func check(_ progress: CheckProgress, _ rate: Int64?) -> LibraryCheck {
    LibraryCheck(
      library: library,
      ledger: ledger,
      progress: progress,
      pace: ReadPace(bytesPerSecond: rate) { progress.read($0) },
      // No import runs: the lock is held.
      settled: .zero,
      now: SystemClock.now,
      logger: logger
    )
  }

  /// Removes what is nobody's.
  package func clear(_ parameters: ClearingParameters) async throws -> ClearingReport {
    try await LibraryClearing(
      library: library,
      ledger: ledger,
      now: SystemClock.now,
      logger: logger
    )
    .run(parameters)
  }

  /// Makes the handoffs that are held since a rebuild.
  package func resumeHandoffs() async throws {
    try await ledger.resumeHandoffs()
  }

  /// Gives the ledger and the lock back.
  package func close() async throws {
    try await ledger.close()
    withExtendedLifetime(lock) {}
  }

  /// Opens the library for this process alone.
  ///
  /// - Throws: ``ControlError`` with `unavailable` while it is away or another process has it.
  static func openLibrary(
    _ configuration: Configuration,
    expecting id: String?,
    _ logger: Logger
  ) async throws -> AssetLibrary {
    let library: AssetLibrary
    do throws(LibraryError) {
      library = try await AssetLibrary.open(
        at: configuration.library.path,
        logger: logger,
        whenMissing: .wait,
        expecting: id,
        isExclusive: true,
        isSweeping: false
      )
    } catch {
      guard error.code == .inUse else { throw error }
      throw ControlError(.unavailable, error.description)
    }
    if let absence = await library.absence() { throw CareQuestions.libraryAway(absence) }
    return library
  }
}
