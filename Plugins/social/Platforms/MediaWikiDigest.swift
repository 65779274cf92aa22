import Digests
import Glibc
import HandoffPluginKit
import HandoffProtocol
import LinuxSystem
import Paths

/// The SHA-1 of a file, by which a wiki knows contents.
enum MediaWikiDigest {
  private static let blockSize = 1 << 20

  /// Reads a whole file in constant memory, on a thread of its own.
  static func sha1(of asset: GrantedAsset) async throws(ResultError) -> String {
    let thread = BlockingThread("mediawiki.digest")
    let (path, size) = (asset.path, asset.size)
    do {
      return try await thread.run { try Self.digest(path, size) }
    } catch {
      throw ResultError(
        .assetMissing,
        "reading the video: \(error)",
        effect: .none,
        retry: .later,
        localIdentifier: asset.localIdentifier
      )
    }
  }

  /// Blocks.
  private static func digest(_ path: BytePath, _ size: Int64) throws -> String {
    let file = try FileDescriptor.open(path, O_RDONLY)
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: blockSize, alignment: 4096)
    defer { buffer.deallocate() }
    var digest = try SHA1()
    var read: Int64 = 0
    while true {
      let count = try file.read(into: buffer)
      if count == 0 { break }
      digest.update(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
      read += Int64(count)
    }
    guard read == size else { throw SystemError(EIO, "another size than the asset's") }
    return try digest.finish().map { byte in
      String(byte >> 4, radix: 16) + String(byte & 15, radix: 16)
    }.joined()
  }
}
