import Digests
import Glibc
import HandoffProtocol
import HandoffTestSupport
import LinuxSystem
import Paths

/// A file as the broker grants it.
struct Granted: Sendable {
  let identifier: LocalIdentifier
  var asset: ResolvedAsset
  let path: BytePath

  /// Writes a file of a name into a grants folder of its own.
  init(_ bytes: [UInt8], named name: BytePath, in scratch: Scratch) throws {
    let digest = ContentDigest(try SHA256.digest(of: bytes))!
    let folder = scratch.path.appending("grants/\(digest.hex)")
    try Directory.create(folder)
    path = folder.appending(name)
    try FileDescriptor.open(path, O_WRONLY | O_CREAT | O_TRUNC).write(bytes)
    identifier = LocalIdentifier(digest)
    asset = ResolvedAsset(at: path, sha256: digest, size: Int64(bytes.count))
  }

  /// Takes a file that is there.
  init(file: BytePath) throws {
    let bytes = try FileDescriptor.open(file, O_RDONLY).readAll(limit: 100 << 20)
    let digest = ContentDigest(try SHA256.digest(of: bytes))!
    path = file
    identifier = LocalIdentifier(digest)
    asset = ResolvedAsset(at: file, sha256: digest, size: Int64(bytes.count))
  }

  var grants: [LocalIdentifier: ResolvedAsset] { [identifier: asset] }
}

extension [UInt8] {
  /// Bytes that are different for each seed.
  static func pattern(_ seed: UInt8, count: Int) -> [UInt8] {
    (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ Int(seed)) }
  }
}
