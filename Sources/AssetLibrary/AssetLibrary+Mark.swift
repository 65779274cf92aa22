import HandoffProtocol
import LinuxSystem
import Paths

/// How far the ledger has come that used the library last: a ledger that has not come so far is an old copy.
package struct LedgerMark: Hashable, Codable, Sendable {
  /// The number of its last event.
  package let event: Int64
  /// The event's code, in hexadecimal digits.
  package let code: String

  package init(event: Int64, code: String) {
    self.event = event
    self.code = code
  }

  /// A mark that cannot be read says nothing; the next one replaces it.
  fileprivate init?(_ bytes: [UInt8]) {
    do {
      self = try WireCoder.decode(LedgerMark.self, from: bytes)
    } catch {
      return nil
    }
  }
}

extension AssetLibrary {
  /// What the last broker has left; nil where there is nothing, or nothing of this form.
  package func ledgerMark() async throws(LibraryError) -> LedgerMark? {
    try await onFiles { store throws(LibraryError) in
      try store.requireAvailable()
      guard let bytes = try store.readSmallFile(store.layout.ledgerMark, limit: 4096) else {
        return nil
      }
      return LedgerMark(bytes)
    }
  }

  /// Writes or removes the mark; it is on the disk when this returns.
  package func setLedgerMark(_ mark: LedgerMark?) async throws(LibraryError) {
    try await onFiles { store throws(LibraryError) in
      try store.requireAvailable()
      let path = store.layout.ledgerMark
      if let mark { return try store.writeDurably(mark, to: path) }
      try storing(path) { () throws(SystemError) in
        try DurableFile.unlink(path)
        try Directory.sync(path.parent)
      }
    }
  }
}
