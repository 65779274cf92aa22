/// Who at a destination hears that a handoff is cancelled which was sent there.
package enum CancelReach: Hashable, Sendable {
  /// The receiver is asked, or its process is ended: its answer decides how the handoff ends.
  case receiver
  /// Nobody can be told: what was sent may still happen.
  case nobody
  /// Its process has ended: what it did before that may stay done.
  case ended
}

/// Why it is not known what a cancelled handoff left behind.
package enum CancelDoubt: Hashable, Sendable {
  /// The receiver could not be asked.
  case cannotBeAsked
  /// It was asked, and gave no answer that tells.
  case noAnswer
  /// Its process has ended without a word.
  case processEnded
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
    case (.exec, _): .ended
    // The broker itself copies, and knows whether anything got its name.
    case (.file, .submitted): .receiver
    case (.plugin, _), (.http, _), (.url, _), (.file, _): .nobody
    }
  }
}
