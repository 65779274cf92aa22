import HandoffCore
import HandoffProtocol
import Ledger
import Synchronization

/// The plugins that run now, for whoever wants to know what became of one handoff.
final class RunningPlugins: Sendable {
  /// Asks the plugin, and records what it says.
  typealias Question = @Sendable (ClaimedHandoff) async -> Void

  private let questions = Mutex<[DestinationName: Question]>([:])

  func attach(_ destination: DestinationName, _ question: @escaping Question) {
    questions.withLock { $0[destination] = question }
  }

  func detach(_ destination: DestinationName) {
    questions.withLock { $0[destination] = nil }
  }

  /// Asks about a handoff, if its destination's plugin runs.
  func ask(about claimed: ClaimedHandoff) async {
    let question = questions.withLock { $0[claimed.handoff.destination] }
    await question?(claimed)
  }
}
