import HandoffConfig
import HandoffCore
import HandoffProtocol
import Paths
import Synchronization

/// What the broker goes by at this moment; a reload replaces it as a whole.
///
/// A destination's own stage is not among those who ask here: it keeps the settings that it was started
/// with, and is ended and started anew where they change.
final class SettingsInForce: Sendable {
  /// One configuration with what was read for it.
  final class Values: Sendable {
    let configuration: Configuration
    let secrets: Secrets
    /// When each drop folder was seen for the first time.
    let firstSeen: [BytePath: Timestamp]
    let loadedAt: Timestamp
    /// By configured path.
    let folders: [BytePath: DropFolderSettings]
    let destinations: [DestinationName: DestinationSettings]
    let callbacks: Set<CallbackID>
    let units: FolderUnits

    init(
      _ configuration: Configuration,
      secrets: Secrets,
      firstSeen: [BytePath: Timestamp],
      loadedAt: Timestamp
    ) {
      self.configuration = configuration
      self.secrets = secrets
      self.firstSeen = firstSeen
      self.loadedAt = loadedAt
      folders = Dictionary(configuration.dropFolders.map { ($0.path, $0) }) { first, _ in first }
      destinations = Dictionary(configuration.destinations.map { ($0.name, $0) }) { first, _ in
        first
      }
      callbacks = Set(configuration.callbacks.keys)
      units = FolderUnits(configuration.dropFolders)
    }
  }

  private let state: Mutex<Values>

  init(_ values: Values) {
    state = Mutex(values)
  }

  var now: Values { state.withLock { $0 } }

  func replace(with values: Values) { state.withLock { $0 = values } }
}
