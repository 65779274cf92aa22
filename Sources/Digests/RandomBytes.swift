import Glibc

/// Random bytes from the kernel, and comparison of what is secret.
package enum RandomBytes {
  /// The most that one call of getentropy(3) gives, in bytes.
  private static let portion = 256

  /// Fresh bytes from the kernel's generator; one system call for each 256.
  ///
  /// getentropy(3) fails only where the kernel has no such call: then nothing here can work.
  package static func make(count: Int) throws(RandomBytesError) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: count)
    var filled = 0
    while filled < count {
      let size = min(portion, count - filled)
      let status = bytes.withUnsafeMutableBytes { buffer in
        getentropy(buffer.baseAddress?.advanced(by: filled), size)
      }
      guard status == 0 else { throw RandomBytesError(errno: errno) }
      filled += size
    }
    return bytes
  }
}

/// The kernel gave no random bytes.
package struct RandomBytesError: Error, Hashable, Sendable, CustomStringConvertible {
  /// See getentropy(3).
  package let errno: CInt

  package var description: String {
    "getentropy: " + (strerror(errno).map { String(cString: $0) } ?? "error \(errno)")
  }
}

/// Whether two secrets are the same, in time that depends on their lengths only.
package func constantTimeEqual(_ left: [UInt8], _ right: [UInt8]) -> Bool {
  guard left.count == right.count else { return false }
  var difference: UInt8 = 0
  for index in left.indices { difference |= left[index] ^ right[index] }
  return difference == 0
}
