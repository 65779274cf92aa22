import HandoffPluginKit
import HandoffProtocol

/// How it is known that a copy on a remote has the right bytes; never by its size alone.
struct RemoteProof: Sendable {
  /// The setting `verify`.
  enum Policy: String, Decodable, CaseIterable, Sendable {
    /// The remote's own digest where it is one of the bytes that it has, else a download.
    case auto
    /// A download.
    case download
    /// The remote's digest, whatever it stands for; nothing is downloaded.
    case server
  }

  /// As `sha256` or `md5`.
  let algorithm: String
  let value: String
  /// Whether the value is from a download.
  let isDownloaded: Bool

  var checksum: ArchiveReceipt.Checksum {
    .init(algorithm: algorithm, value: value, method: isDownloaded ? "downloaded" : "server")
  }

  /// Whether a digest that a remote tells is one that it has made of the bytes that it has.
  ///
  /// Many services keep the digest that the uploader has told them. S3 makes one of what it gets in one
  /// piece; for all else rclone may tell what it kept as metadata. The plugin's own uploads keep none.
  static func isReceiversOwn(_ kind: String, isOwnUpload: Bool) -> Bool {
    switch kind {
    case "local", "sftp", "drive", "google cloud storage": true
    case "s3": isOwnUpload
    default: false
    }
  }

  /// A digest that is not right may be of something else, as where an S3 service encrypts what it keeps.
  static func mayMislead(_ kind: String) -> Bool { kind == "s3" }
}

extension Remote {
  /// Finds out whether a file of the remote, whose size is right, has the right bytes; nil if it has others.
  ///
  /// An own upload was put there by this plugin.
  func proof(
    of path: String,
    _ sums: [String: String],
    isOwnUpload: Bool,
    _ progress: @escaping @Sendable (Int64) async -> Void
  ) async throws -> RemoteProof? {
    let features = try await features()
    let mayAsk =
      policy == .server
      || policy == .auto && RemoteProof.isReceiversOwn(features.kind, isOwnUpload: isOwnUpload)
    if mayAsk,
      let name = RemoteSums.names.first(where: { features.hashes.contains($0) && sums[$0] != nil }),
      let value = try await serverHash(name, of: path)
    {
      if value == sums[name] {
        return RemoteProof(algorithm: name, value: value, isDownloaded: false)
      }
      guard policy == .auto, RemoteProof.mayMislead(features.kind) else { return nil }
    } else if policy == .server {
      throw ResultError.notConfigured(
        "\(address.name) tells no digest of \(path), and settings.verify is server",
        remedy: "Set verify to auto: then the copy is downloaded and compared."
      )
    }
    let value = try await downloadedHash(of: path, progress)
    guard value == sums["sha256"] else { return nil }
    return RemoteProof(algorithm: "sha256", value: value, isDownloaded: true)
  }
}
