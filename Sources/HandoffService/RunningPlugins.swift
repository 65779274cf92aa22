import Destinations
import HandoffCore
import HandoffProtocol
import Ledger
import Synchronization

/// The plugins that run now, for whoever wants to ask one: whether it would take a request, or what
/// became of a handoff.
final class RunningPlugins: Sendable {
  /// A running plugin, and what it said of itself.
  struct Plugin: Sendable {
    let introduction: PluginIntroduction
    let process: PluginProcess
    /// Asks it about one handoff, records what it says, and returns it; nil where it did not answer.
    let askAgain: @Sendable (ClaimedHandoff) async -> HandoffKnowledge.Standing?
  }

  private let plugins = Mutex<[DestinationName: Plugin]>([:])

  func attach(_ destination: DestinationName, _ plugin: Plugin) {
    plugins.withLock { $0[destination] = plugin }
  }

  func detach(_ destination: DestinationName) {
    plugins.withLock { $0[destination] = nil }
  }

  /// The plugin of a destination, if it runs.
  subscript(_ destination: DestinationName) -> Plugin? {
    plugins.withLock { $0[destination] }
  }

  /// Asks about a handoff, if its destination's plugin runs.
  ///
  /// - Returns: what it said; nil where it does not run or did not answer.
  func ask(about claimed: ClaimedHandoff) async -> HandoffKnowledge.Standing? {
    await self[claimed.handoff.destination]?.askAgain(claimed)
  }
}
