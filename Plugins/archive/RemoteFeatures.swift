import HandoffProtocol

/// What a remote can do, as `rclone backend features` tells it.
struct RemoteFeatures: Hashable, Sendable {
  /// The kind of service, as `s3` or `sftp`; empty where the configuration is encrypted.
  let kind: String
  /// The digests that it can tell without a download, in rclone's names.
  let hashes: [String]
  /// It can give a file another name without moving its bytes.
  let canMove: Bool
  /// Folders exist only as parts of names.
  let isBucketBased: Bool
  /// Two names that differ only in capitals are one.
  let ignoresCase: Bool
  /// It tells its free space.
  let tellsSpace: Bool

  /// The kind is that of the configuration, because rclone's answer has only the remote's own name.
  init(_ document: JSONValue, kind: String) {
    self.kind = kind
    var names: [String] = []
    if case .array(let listed) = document["Hashes"] { names = listed.compactMap(\.text) }
    // Releases have named them `MD5` and `md5`.
    hashes = names.map { $0.lowercased().filter { $0 != "-" } }
    func has(_ name: String) -> Bool { document["Features"]?[name] == .bool(true) }
    canMove = has("Move")
    isBucketBased = has("BucketBased")
    ignoresCase = has("CaseInsensitive")
    tellsSpace = has("About")
  }
}
