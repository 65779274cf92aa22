package import Paths

/// What lies beside an export that its folder's `proof` asks for.
package enum ProofFinding: Hashable, Sendable {
  /// The folder asks for nothing that would lie beside it.
  case notAsked
  /// It is there; the text says what.
  case present(String)
  /// A digest is there: the import compares it with the bytes before anything is recorded.
  case claimed(ContentChecksum)
  /// It is not there, or says nothing of this export.
  case missing(String)
}

/// The names of what lies beside an export as a proof that it is finished.
package enum ProofFiles {
  /// What the name of a marker adds to its export's.
  package static let markerSuffix = ".done"

  private static let suffixes =
    [markerSuffix] + ContentChecksum.Algorithm.allCases.map(\.suffix)

  /// The export that a marker or a checksum file is about, or nil if the name is neither's.
  package static func export(ofProof path: BytePath) -> BytePath? {
    let name = path.lastComponent.bytes
    let suffix = suffixes.first { name.count > $0.utf8.count && name.ends(with: $0) }
    return suffix.map { BytePath(path.bytes.dropLast($0.utf8.count)) }
  }
}

extension [UInt8] {
  fileprivate func ends(with text: String) -> Bool {
    suffix(text.utf8.count).elementsEqual(text.utf8)
  }
}
