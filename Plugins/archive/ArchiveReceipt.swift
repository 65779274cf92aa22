import HandoffPluginKit
import HandoffProtocol
import Paths

/// One copy, as the result tells it and as a later verification finds it again.
struct ArchiveReceipt: Sendable {
  /// How it is known that the copy is right.
  struct Checksum: Hashable, Sendable {
    /// As `sha256` or `md5`.
    var algorithm: String
    /// In hexadecimal.
    var value: String
    /// Where the value is from, as `read back`, `shared` or `remote`.
    var method: String
  }

  /// Absolute; for a remote relative to it.
  var path: BytePath
  /// Where it is, for people: the path, or `name:path`.
  var location: String
  var sha256: ContentDigest
  var size: Int64
  /// The archive's own, of the copy.
  var checksum: Checksum
  /// The folder whose MHL history tells of it, and its hashes there; where there is one.
  var unit: BytePath?
  var mhl: MHLHashes?
  /// Further members.
  var more: [String: JSONValue] = [:]

  /// The members of a result's `output` for one copy.
  var members: [String: JSONValue] {
    var members = more
    members["path"] = .string(path.lossyText)
    members["path_bytes"] = path.base64UnlessText.map { .string($0) }
    members["location"] = .string(location)
    members["sha256"] = .string(sha256.hex)
    members["size"] = .integer(size)
    members["checksum"] = .object([
      "algorithm": .string(checksum.algorithm), "value": .string(checksum.value),
      "method": .string(checksum.method),
    ])
    return members
  }

  /// The result of a handoff: the first copy's members, and `files` where there are several.
  static func output(_ copies: [ArchiveReceipt]) -> Receipt {
    guard var output = copies.first?.members else { return Receipt() }
    if copies.count > 1 { output["files"] = .array(copies.map { .object($0.members) }) }
    return Receipt(output)
  }

  /// The path of an asset's copy in a former result; nil if it tells of none.
  static func formerPath(
    of asset: DeliveredAsset,
    in output: [String: JSONValue]
  ) -> BytePath? {
    let copy = formerCopy(of: asset, in: output)
    if let bytes = copy?["path_bytes"]?.text { return BytePath(base64: bytes) }
    return copy?["path"]?.text.map { BytePath($0) }
  }

  /// The archive's checksum of an asset's copy in a former result; nil if it tells of none.
  static func formerChecksum(
    of asset: DeliveredAsset,
    in output: [String: JSONValue]
  ) -> Checksum? {
    let checksum = formerCopy(of: asset, in: output)?["checksum"]
    guard let algorithm = checksum?["algorithm"]?.text, let value = checksum?["value"]?.text,
      let method = checksum?["method"]?.text
    else { return nil }
    return Checksum(algorithm: algorithm, value: value, method: method)
  }

  private static func formerCopy(
    of asset: DeliveredAsset,
    in output: [String: JSONValue]
  ) -> [String: JSONValue]? {
    var files = [output]
    if case .array(let listed) = output["files"] {
      files = listed.compactMap { if case .object(let file) = $0 { file } else { nil } }
    }
    return files.first { $0["sha256"]?.text == asset.sha256.hex }
  }
}
