import HandoffConfig
import HandoffControl
import HandoffCore
import HandoffProtocol
import Webhooks

/// Which of the stages that a reload can end and start it has to.
struct ReloadDifference: Sendable {
  private(set) var added: [DestinationSettings] = []
  /// As they are to be.
  private(set) var changed: [DestinationSettings] = []
  private(set) var removed: [DestinationName] = []
  /// What the ledger goes by until the stages have ended that a reload ends: it lets nothing go to a
  /// receiver that is on its way out which was held back there.
  private(set) var meanwhile: [DestinationSettings] = []
  private(set) var addedCallbacks: [CallbackSettings] = []
  private(set) var changedCallbacks: [CallbackSettings] = []
  private(set) var removedCallbacks: [CallbackID] = []
  let verifiesOtherwise: Bool
  /// What differs although the file says the same: secrets that somebody has changed where they lie.
  private(set) var rotated: [PlanChange] = []

  init(_ old: SettingsInForce.Values, _ configuration: Configuration, _ secrets: Secrets) {
    let before = old.configuration
    verifiesOtherwise = before.library.verifyEvery != configuration.library.verifyEvery
    for destination in configuration.destinations {
      let name = destination.name
      guard let known = old.destinations[name] else {
        added.append(destination)
        meanwhile.append(destination)
        continue
      }
      meanwhile.append(known)
      let isRotated = !Self.same(old.secrets.destinations[name], secrets.destinations[name])
      if known != destination || isRotated { changed.append(destination) }
      if known == destination, isRotated { rotated.append(Self.rotation("destination", name.text)) }
    }
    let gone = before.destinations.filter { configuration.destination($0.name) == nil }
    removed = gone.map(\.name)
    meanwhile += gone
    for callback in configuration.callbacks.values {
      guard let known = before.callbacks[callback.id] else {
        addedCallbacks.append(callback)
        continue
      }
      let isRotated = !Self.same(
        old.secrets.callbacks[callback.id],
        secrets.callbacks[callback.id]
      )
      if known != callback || isRotated { changedCallbacks.append(callback) }
      if known == callback, isRotated {
        rotated.append(Self.rotation("callback", callback.id.text))
      }
    }
    removedCallbacks = before.callbacks.keys.filter { configuration.callbacks[$0] == nil }
  }

  /// Those that are started.
  var started: [DestinationSettings] { added + changed }

  /// Those whose stages end.
  var ended: [DestinationName] { removed + changed.map(\.name) }

  private static func same(_ old: [WebhookSecret]?, _ new: [WebhookSecret]?) -> Bool {
    let (old, new) = (old ?? [], new ?? [])
    return old.count == new.count && zip(old, new).allSatisfy { $0.isSameKey(as: $1) }
  }

  private static func rotation(_ what: String, _ name: String) -> PlanChange {
    PlanChange(.change, what, name, "its secret is another one")
  }
}
