import HandoffCore
import HandoffProtocol
import Ledger
import Synchronization

/// The plugins that run now, for whoever wants to know what became of one handoff.
final class RunningPlugins: Sendable {
  /// Asks the plugin, records what it says, and returns it; nil where it did not answer.
  typealias Question = @Sendable (ClaimedHandoff) async -> HandoffKnowledge.Standing?

  private let questions = Mutex<[DestinationName: Question]>([:])

  func attach(_ destination: DestinationName, _ question: @escaping Question) {
    questions.withLock { $0[destination] = question }
  }

  func detach(_ destination: DestinationName) {
    questions.withLock { $0[destination] = nil }
  }

  /// Whether a destination's plugin can be asked now.
  func runs(_ destination: DestinationName) -> Bool {
    questions.withLock { $0[destination] != nil }
  }

  /// Asks about a handoff, if its destination's plugin runs.
  ///
  /// - Returns: what it said; nil where it does not run or did not answer.
  func ask(about claimed: ClaimedHandoff) async -> HandoffKnowledge.Standing? {
    let question = questions.withLock { $0[claimed.handoff.destination] }
    return await question?(claimed)
  }
}
