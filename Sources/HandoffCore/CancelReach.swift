/// Who at a destination hears that a handoff is cancelled which was sent there.
package enum CancelReach: Hashable, Sendable {
  /// The receiver is asked, or its process is ended: its answer decides how the handoff ends.
  case receiver
  /// Nobody can be told: what was sent may still happen.
  case nobody
}

extension DestinationSettings.Transport {
  /// Who hears that a handoff is cancelled that stands at a status.
  ///
  /// Whether a plugin can be asked in fact, only its own capabilities say.
  package func cancelReach(from status: HandoffStatus) -> CancelReach {
    switch (self, status) {
    case (.plugin, .submitted), (.plugin, .accepted), (.plugin, .needsUser),
      (.plugin, .outcomeUnknown):
      .receiver
    // Once its process has ended, nobody is left.
    case (.exec, .submitted), (.exec, .accepted): .receiver
    // The broker itself copies, and knows whether anything got its name.
    case (.file, .submitted): .receiver
    case (.plugin, _), (.exec, _), (.http, _), (.url, _), (.file, _): .nobody
    }
  }
}
