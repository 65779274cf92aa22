import AssetLibrary
import DropFolders
import HandoffConfig
import HandoffCore
import HandoffProtocol
import Paths

/// What lies beside an export: its sidecar, and the checksum that its writer gave.
extension ImportStage {
  /// A member of a package is copied: its original stays as it is until the package is recorded, and a
  /// take would change its owner, mode and change time.
  func importMode(of export: SettledExport) -> ImportMode {
    export.folder.takesSource && units.package(of: export.path) == nil ? .take : .copy
  }

  static let sidecarIsWritten = ImportOutcome.held(
    reason: "its sidecar is still open for writing",
    state: .waitingSidecar,
    upTo: .seconds(1)
  )

  /// An export without a sidecar waits for one as long as its folder says; nil when it waits no more.
  func sidecarWait(for export: SettledExport) -> ImportOutcome? {
    guard export.sidecarWait > .zero else { return nil }
    let name = export.path.lastComponent.addingSuffix(Sidecar.suffix).displayText
    let end = now().advanced(by: export.sidecarWait).rfc3339
    return .held(
      reason: "its sidecar \(name) is waited for until \(end)",
      state: .waitingSidecar,
      upTo: export.sidecarWait
    )
  }

  /// The sidecar that counts when the import is recorded, after the bytes were read.
  func latestSidecar(
    of export: SettledExport,
    after earlier: SidecarReader.Found?
  ) async throws -> SidecarReader.Reading {
    if let earlier { return .found(earlier) }
    // The sidecar of a package lies beside its directory.
    guard units.package(of: export.path) == nil else { return .none }
    return try await sidecars.read(for: export.path, in: export.folder)
  }

  /// Why an export is held whose bytes are not what its writer says.
  func mismatch(_ error: LibraryError, _ export: SettledExport) -> String {
    let suffix = export.checksum?.algorithm.suffix ?? ""
    let name = export.path.lastComponent.addingSuffix(suffix).displayText
    let detail = error.detail ?? "the digests differ"
    return "it does not agree with \(name): \(detail); it is judged again when one of them changes"
  }
}

extension SidecarReader.Reading {
  var found: SidecarReader.Found? {
    switch self {
    case .found(let found): found
    case .none, .stillWritten: nil
    }
  }
}
