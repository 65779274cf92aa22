import AssetLibrary
import HandoffConfig
import HandoffCore

/// Stops intake before the library's disk is full.
struct IntakeBrake: Sendable {
  let library: AssetLibrary
  let settings: SettingsInForce

  /// Why an export may not be taken now; nil while there is room.
  ///
  /// The bytes are what the import writes: 0 where it takes the source itself.
  func shortage(for bytes: Int64) async throws(LibraryError) -> String? {
    let space = try await library.freeSpace()
    let reserve = settings.now.configuration.library.reserve
    let needed = reserve.bytes(of: space.total) + bytes
    guard space.available < needed else { return nil }
    return "no space: \(space.available) bytes are free at \(library.path), \(needed) are needed "
      + "with the reserve"
  }
}
