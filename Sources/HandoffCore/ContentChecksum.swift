import HandoffProtocol

/// A digest that a writer has put beside its export, to be compared with the export's bytes.
package struct ContentChecksum: Hashable, Sendable {
  /// How it was made.
  package enum Algorithm: String, Hashable, Sendable, CaseIterable {
    case sha256
    case md5

    /// What the name of a checksum file adds to its export's.
    package var suffix: String { ".\(rawValue)" }

    package var byteCount: Int {
      switch self {
      case .sha256: 32
      case .md5: 16
      }
    }

    /// As people write it.
    package var displayName: String {
      switch self {
      case .sha256: "SHA-256"
      case .md5: "MD5"
      }
    }
  }

  package let algorithm: Algorithm
  package let bytes: [UInt8]

  /// Nil for a count of bytes that the algorithm does not give.
  package init?(_ algorithm: Algorithm, _ bytes: [UInt8]) {
    guard bytes.count == algorithm.byteCount else { return nil }
    self.algorithm = algorithm
    self.bytes = bytes
  }

  /// Lower-case hexadecimal digits.
  package var hex: String { bytes.hexDigits }
}

extension ContentChecksum: CustomStringConvertible {
  package var description: String { "\(algorithm.displayName) \(hex)" }
}
