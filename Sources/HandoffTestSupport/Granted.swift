import Digests
import Glibc
package import HandoffProtocol
import LinuxSystem
package import Paths

/// A file as the broker grants it.
package struct Granted: Sendable {
  package let identifier: LocalIdentifier
  package var asset: ResolvedAsset
  package let path: BytePath

  /// Writes a file of a name into a grants folder of its own.
  package init(_ bytes: [UInt8], named name: BytePath, in scratch: Scratch) throws {
    let digest = known(ContentDigest(try SHA256.digest(of: bytes)))
    let folder = scratch.path.appending("grants/\(digest.hex)")
    try Directory.create(folder)
    path = folder.appending(name)
    try FileDescriptor.open(path, O_WRONLY | O_CREAT | O_TRUNC).write(bytes)
    identifier = LocalIdentifier(digest)
    asset = ResolvedAsset(at: path, sha256: digest, size: Int64(bytes.count))
  }

  /// Takes a file that is there.
  package init(file: BytePath) throws {
    let bytes = try FileDescriptor.open(file, O_RDONLY).readAll(limit: 100 << 20)
    let digest = known(ContentDigest(try SHA256.digest(of: bytes)))
    path = file
    identifier = LocalIdentifier(digest)
    asset = ResolvedAsset(at: file, sha256: digest, size: Int64(bytes.count))
  }

  package var grants: [LocalIdentifier: ResolvedAsset] { [identifier: asset] }
}

extension [UInt8] {
  /// Bytes that are different for each seed, and in each block of 512.
  package static func pattern(_ seed: UInt8, count: Int) -> [UInt8] {
    var bytes = [UInt8](repeating: seed, count: count)
    for (index, place) in stride(from: 0, to: count, by: 512).enumerated() {
      bytes[place] = UInt8(truncatingIfNeeded: index)
    }
    return bytes
  }
}
