package import HandoffCore
package import HandoffLog
package import HandoffProtocol
import LinuxSystem
package import Paths

/// The `file` transport: copies for programs that know nothing of Handoff.
///
/// A success says that the copy was delivered, and nothing of what becomes of it.
package struct FileReceiver: Sendable {
  /// What became of a delivery that a broker before this one had begun.
  package enum Standing: Sendable {
    /// It is in the inbox, or was; with the output of its result.
    case delivered([String: JSONValue])
    /// Nothing has a name in the inbox.
    case notDelivered
    case unknown(String)
  }

  private let settings: DestinationSettings
  private let inbox: BytePath
  private let journals: BytePath
  private let logger: Logger
  /// For what is short; each delivery has a thread of its own, so that one that hangs delays no other.
  private let thread: BlockingThread

  /// What is said of its containment.
  package static let containment = "none: the broker itself copies"

  /// - Parameters:
  ///   - settings: of a destination with an inbox.
  ///   - work: the destination's folder in the broker's state folder.
  ///   - logger: hears of what could not be cleared.
  package init(settings: DestinationSettings, work: BytePath, logger: Logger) {
    self.settings = settings
    inbox = settings.inbox ?? ""
    journals = work.appending("deliveries")
    self.logger = logger
    thread = BlockingThread("inbox.\(settings.name)")
  }

  /// Delivers one handoff; never throws, for every end is a result.
  ///
  /// Cancelling the task ends it, unless it is being placed already.
  package func deliver(
    _ request: HandoffRequest,
    handoff: String,
    assets: [InboxAsset]
  ) async -> HandoffResult {
    if Task.isCancelled {
      let stopped = DeliveryProgress.Reason.stopped.error
      return HandoffResult(state: request.state, outcome: .failure(stopped))
    }
    let delivery = InboxDelivery(
      inbox: inbox,
      journals: journals,
      request: request,
      handoff: handoff,
      destination: settings.name,
      assets: assets,
      progress: DeliveryProgress(),
      logger: logger
    )
    let watch = DeliveryWatch(delivery.progress, settings: settings)
    let own = BlockingThread("inbox.\(settings.name).\(handoff)")
    // Not awaited: where the kernel holds its thread (a network file system that is away) it ends when
    // that lets go. What came of it is awaited below, and it names nothing after it was abandoned.
    Task { watch.ended(await own.run { () throws(Never) in outcome(of: delivery) }) }
    let answer = await watch.outcome()
    return HandoffResult(state: request.state, outcome: answer)
  }

  /// What became of a delivery that is not under way any more.
  package func standing(of handoff: String) async -> Standing {
    await thread.run { () throws(Never) in recovery.standing(of: handoff) }
  }

  /// Clears away what a delivery needed, once its result is in the ledger.
  package func forget(_ handoff: String) async {
    await thread.run { () throws(Never) in
      logger.logged("What a delivery needed is left in an inbox.") {
        try recovery.clear(handoff)
      }
    }
  }

  /// Clears away what deliveries before this start have left, but those of some handoffs.
  package func sweep(keeping open: Set<String>) async {
    await thread.run { () throws(Never) in
      var left: [String] = []
      logger.logged("What earlier deliveries left cannot be looked at.") {
        try Directory.createDurably(journals, permissions: 0o700)
        try DeliveryJournal.removeUnfinished(in: journals)
        left = try DeliveryJournal.handoffs(in: journals)
      }
      for handoff in left where !open.contains(handoff) {
        logger.logged("What an earlier delivery left is still in an inbox.") {
          try recovery.clear(handoff)
        }
      }
    }
  }

  private var recovery: InboxRecovery { InboxRecovery(inbox: inbox, journals: journals) }

  private func outcome(of delivery: InboxDelivery) -> HandoffResult.Outcome {
    do throws(ResultError) {
      try InboxFailure.reporting(journals) { () throws(SystemError) in
        try Directory.createDurably(journals, permissions: 0o700)
      }
      return .success(output: try delivery.run())
    } catch {
      return .failure(error)
    }
  }
}
