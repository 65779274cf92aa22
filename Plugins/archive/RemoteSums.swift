import Digests
import Glibc
import HandoffPluginKit
import HandoffProtocol
import LinuxSystem

/// The digests of the granted file that remotes can be asked for, in hexadecimal by rclone's names.
struct RemoteSums: Hashable, Sendable {
  /// In the order in which they are preferred.
  static let names = ["sha256", "sha1", "md5"]
  private static let chunkSize = 256 << 10
  /// Work is done in pieces of so many bytes, so that it can be given up.
  private static let stride: Int64 = 16 << 20
  private static let thread = BlockingThread("archive.sums")

  let values: [String: String]

  /// Reads the file once, and makes sure that it is what was announced.
  ///
  /// The hashes are those that the remote can tell; the progress is told the part that is done, 0 to 1.
  init(
    of asset: GrantedAsset,
    for hashes: [String],
    _ progress: @Sendable (Double) async -> Void
  ) async throws {
    do {
      let pass = try await Self.thread.run { try Pass(asset, hashes) }
      while try await Self.thread.run({ try pass.step(Self.stride) }) {
        try Task.checkCancellation()
        await progress(min(1, Double(pass.offset) / Double(max(asset.size, 1))))
      }
      values = try await Self.thread.run { try pass.finish() }
    } catch let error as SystemError {
      throw ArchiveError.result(error)
    }
    guard values["sha256"] == asset.sha256.hex else {
      throw ArchiveError.damaged(asset, "its SHA-256 is \(values["sha256"] ?? "unknown")")
    }
  }

  /// One pass over a file.
  ///
  /// SAFETY: `@unchecked`, because it is touched on ``RemoteSums/thread`` alone, one call after the other, and
  /// `offset` is read between the calls.
  private final class Pass: @unchecked Sendable {
    private let file: FileDescriptor
    private var sha256: SHA256?
    private var sha1: SHA1?
    private var md5: MD5?
    private(set) var offset: Int64 = 0

    init(_ asset: GrantedAsset, _ hashes: [String]) throws {
      file = try FileDescriptor.open(asset.path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
      let status = try file.status()
      guard status.kind == .regular, status.size == asset.size else {
        throw ArchiveError.damaged(asset, "\(status.size) bytes, \(asset.size) were announced")
      }
      sha256 = try SHA256()
      if !hashes.contains("sha256") {
        if hashes.contains("sha1") { sha1 = try SHA1() }
        if hashes.contains("md5") { md5 = try MD5() }
      }
    }

    func step(_ size: Int64) throws -> Bool {
      let buffer = UnsafeMutableRawBufferPointer.allocate(
        byteCount: RemoteSums.chunkSize,
        alignment: 4096
      )
      defer { buffer.deallocate() }
      let end = offset + size
      while offset < end {
        let count = try file.read(into: buffer, at: offset)
        if count == 0 { return false }
        let chunk = UnsafeRawBufferPointer(rebasing: buffer[..<count])
        sha256?.update(chunk)
        sha1?.update(chunk)
        md5?.update(chunk)
        offset += Int64(count)
      }
      return true
    }

    func finish() throws -> [String: String] {
      var values: [String: String] = [:]
      if let whole = sha256.take() { values["sha256"] = try whole.finish().hexDigits }
      if let whole = sha1.take() { values["sha1"] = try whole.finish().hexDigits }
      if let whole = md5.take() { values["md5"] = try whole.finish().hexDigits }
      return values
    }
  }
}
