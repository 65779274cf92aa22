import HandoffControl
import HandoffCore
import HandoffProtocol
import Ledger
import LinuxSystem
import Paths

/// Questions about the lives of assets and their originals.
extension ControlQuestions {
  func delete(_ parameters: JSONValue?, from peer: ControlPeer) async throws -> JSONValue {
    let asked = try WireCoder.document(DeleteParameters.self, from: parameters)
    let user = peer.user.map { "asked for by uid \($0)" } ?? "asked for"
    do {
      let outcome = try await deletion.delete(
        asked.localIdentifier,
        force: asked.force,
        reason: user
      )
      return try WireCoder.value(
        DeletionReport(
          localIdentifier: asked.localIdentifier,
          wasDeleted: outcome.deletion.wasDeleted,
          areBytesGone: outcome.areBytesGone,
          ended: outcome.deletion.ended.map(\.id.description),
          open: outcome.deletion.open.map(\.id.description)
        )
      )
    } catch let error as LedgerError {
      throw error.refusal
    }
  }

  /// Why an imported file is still there, where its folder says that it goes.
  func reason(ofOriginal path: BytePath, of identifier: LocalIdentifier) async throws -> String? {
    let waiting = try await ledger.waitingOriginals()
    guard waiting.contains(where: { $0.path == path && $0.localIdentifier == identifier })
    else { return nil }
    return try await originals.reasonToStay(identifier)
  }

  /// Originals that nothing moves any more unless a person does something.
  func stayingOriginals() async throws -> [OriginalReport] {
    var reports: [OriginalReport] = []
    for original in try await ledger.waitingOriginals() {
      let identifier = original.localIdentifier
      guard try await ledger.openHandoffs(ofAsset: identifier).isEmpty,
        try await isThere(original.path)
      else { continue }
      let reason = try await originals.reasonToStay(identifier)
      reports.append(
        OriginalReport(original.path, localIdentifier: identifier, reason: reason)
      )
    }
    return reports
  }

  private func isThere(_ path: BytePath) async throws -> Bool {
    try await handImport.files.run { () throws(SystemError) in try FileStatus.of(path) != nil }
  }
}
