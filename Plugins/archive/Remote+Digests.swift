import HandoffProtocol
import Paths

extension Remote {
  /// The digest that the remote tells of a file; nil if it tells none.
  func serverHash(_ name: String, of path: String) async throws -> String? {
    let words: [BytePath] = [
      "lsjson", "--stat", "--hash", "--hash-type", BytePath(name), "--no-modtime", "--no-mimetype",
      BytePath(address.place(path)),
    ]
    guard
      let value = try await json(words, "asking for a digest of \(path)")["Hashes"]?[name]?.text,
      !value.isEmpty
    else { return nil }
    return value.lowercased()
  }

  /// The SHA-256 of a file's bytes as they come back.
  func downloadedHash(
    of path: String,
    _ progress: @escaping @Sendable (Int64) async -> Void
  ) async throws -> String {
    let words: [BytePath] = ["hashsum", "sha256", "--download", BytePath(address.place(path))]
    let ended = try await rclone.run(words + bandwidth, progress)
    guard ended.isSuccess else {
      throw RemoteFailure.error(ended, "downloading \(address.place(path))")
    }
    let digits = ended.output.prefix { $0 != UInt8(ascii: " ") }
    guard let digest = ContentDigest(hex: String(decoding: digits, as: UTF8.self)) else {
      throw RemoteFailure.error(ended, "downloading \(address.place(path)), no digest came")
    }
    return digest.hex
  }
}
