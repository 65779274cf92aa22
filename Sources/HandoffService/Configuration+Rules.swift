import HandoffConfig
import HandoffCore
import HandoffProtocol
import Ledger

extension [DestinationSettings] {
  /// What the ledger sees to at each destination, for ``Ledger/setRules(_:)``: at each start, and whenever
  /// another configuration is put in force.
  var rules: [DestinationName: DestinationRules] {
    let named = map { settings in
      (
        settings.name,
        DestinationRules(
          needsApproval: settings.approval,
          quota: settings.quota,
          rendition: settings.rendition
        )
      )
    }
    return Dictionary(named) { first, _ in first }
  }
}
