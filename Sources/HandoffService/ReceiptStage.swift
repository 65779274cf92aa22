import Glibc
import HandoffConfig
import HandoffCore
import HandoffLog
import HandoffProtocol
import Ledger
import LinuxSystem
import Paths
import Synchronization

/// Writes the receipt beside an export whose check box was read: how each handoff of it stands.
///
/// A receipt is made from the ledger each time, one after the other, so that a lost or doubled mark
/// changes nothing and an older view never overwrites a newer one.
final class ReceiptStage: Sendable {
  private struct State {
    var marked: Set<LocalIdentifier> = []
    var isFinished = false
  }

  private let ledger: Ledger
  private let settings: SettingsInForce
  private let files: BlockingThread
  private let logger: Logger
  private let state = Mutex(State())
  private let signal = WakeSignal()

  init(ledger: Ledger, settings: SettingsInForce, files: BlockingThread, logger: Logger) {
    self.ledger = ledger
    self.settings = settings
    self.files = files
    self.logger = logger
  }

  /// Has the receipts of a handoff's assets written again.
  func write(for handoff: Handoff) async {
    for identifier in handoff.localIdentifiers { mark(identifier) }
  }

  /// Has the receipts of an asset written again.
  func mark(_ identifier: LocalIdentifier) {
    state.withLock { _ = $0.marked.insert(identifier) }
    signal.signal()
  }

  /// Ends ``run()`` once everything that is marked has been written.
  func finish() {
    state.withLock { $0.isFinished = true }
    signal.signal()
  }

  /// Writes what is marked, until ``finish()``.
  func run() async {
    while true {
      let (marked, isFinished) = state.withLock { state in
        defer { state.marked = [] }
        return (state.marked, state.isFinished)
      }
      for identifier in marked { await write(forAsset: identifier) }
      if marked.isEmpty {
        // Cancelled or finished; what a cancelled stage leaves is written after the next start.
        if isFinished || Task.isCancelled { return }
        await signal.wait()
      }
    }
  }

  /// Beside every export of it that lies in a drop folder and still is the path's newest content.
  private func write(forAsset identifier: LocalIdentifier) async {
    do {
      let handoffs = try await ledger.handoffs(ofAsset: identifier)
      let hadBox = try await ledger.hasConsumedSidecar(identifier)
      guard hadBox || handoffs.contains(where: \.syncPublish) else { return }
      guard let asset = try await ledger.asset(identifier) else { return }
      let bytes = try WireCoder.encode(Receipt(asset, handoffs: handoffs)) + [UInt8(ascii: "\n")]
      for sighting in asset.sources {
        guard let folder = settings.now.folders[sighting.folder] else { continue }
        if let package = folder.packageDirectory(of: sighting.path) {
          try await write(forPackage: package, of: identifier, handoffs: handoffs)
          continue
        }
        let newest = try await ledger.identifier(lastSightedAt: sighting.path)
        guard newest == identifier else { continue }
        try await put(bytes, beside: sighting.path)
      }
    } catch {
      logger.warning(
        "A receipt was not written",
        [.assetID: identifier.text, .error: "\(error)"]
      )
    }
  }

  /// Beside a directory whose sidecar was used up, from the asset that this is recorded for: every request
  /// that the sidecar was read for holds it.
  private func write(
    forPackage path: BytePath,
    of identifier: LocalIdentifier,
    handoffs: [Handoff]
  ) async throws {
    let sidecar = path.addingSuffix(Sidecar.suffix)
    guard try await ledger.lastConsumer(ofSidecar: sidecar) == identifier else { return }
    let receipt = PackageReceipt(identifier, handoffs: handoffs)
    try await put(try WireCoder.encode(receipt) + [UInt8(ascii: "\n")], beside: path)
  }

  /// Under a temporary name first, so that no reader sees half a receipt; not again where it is the same.
  ///
  /// An export's name of more than 242 bytes leaves no room for a receipt's: then ENAMETOOLONG is logged.
  private func put(_ bytes: [UInt8], beside export: BytePath) async throws {
    let path = export.addingSuffix(".handoff.json")
    try await files.run { () throws(SystemError) in
      if try FileStatus.of(path) != nil {
        let present = try FileDescriptor.open(path, O_RDONLY | O_NONBLOCK | O_NOFOLLOW)
        if try present.readAll(limit: 1 << 20) == bytes { return }
      }
      try DurableFile.write(bytes, to: path, permissions: 0o644)
    }
  }
}
