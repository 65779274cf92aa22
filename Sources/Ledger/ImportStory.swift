package import HandoffCore
package import HandoffProtocol
package import Paths

/// How an export came into the library, as its event tells it for good.
package struct ImportStory: Hashable, Sendable {
  /// When the file was first seen in its drop folder; nil where that is not known.
  package var firstSeen: Timestamp?
  /// When it was proven finished.
  package var settled: Timestamp
  /// What proved it.
  package var evidence: [Evidence]
  package var path: BytePath
  package var size: Int64
  package var digest: ContentDigest
  /// How its bytes got into the library: `taken`, `reflinked`, `copied`, `already_present`.
  package var method: String
  /// What is done with the original: `keep`, `remove`, `move`.
  package var original: String

  package init(
    settled: Timestamp,
    evidence: [Evidence],
    path: BytePath,
    size: Int64,
    digest: ContentDigest,
    method: String,
    original: String
  ) {
    firstSeen = evidence.first { $0.check == .name }?.since
    self.settled = settled
    self.evidence = evidence
    self.path = path
    self.size = size
    self.digest = digest
    self.method = method
    self.original = original
  }

  /// One JSON object; short, since it is kept for as long as the asset is remembered.
  func text(sidecar: ConsumedSidecar?) throws -> String {
    var members: [String: JSONValue] = [
      "path": .string(path.lossyText), "bytes": .integer(size), "sha256": .string(digest.hex),
      "how": .string(method), "original": .string(original),
      "settled_at": .string(settled.rfc3339),
      "proof": .array(evidence.filter(\.passed).map { .string($0.check.rawValue) }),
    ]
    if let firstSeen { members["first_seen_at"] = .string(firstSeen.rfc3339) }
    if let writer = evidence.first(where: { $0.check == .noWriter }) {
      members["no_writer"] = .string(writer.detail)
    }
    if let bytes = path.base64UnlessText { members["path_bytes"] = .string(bytes) }
    if let sidecar { members["sidecar"] = .string(sidecar.path.lossyText) }
    return String(decoding: try WireCoder.encode(JSONValue.object(members)), as: UTF8.self)
  }
}
