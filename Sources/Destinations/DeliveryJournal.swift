import HandoffProtocol
import LinuxSystem
import Paths

/// What the broker remembers of one delivery into an inbox, in its own state folder, until the ledger has
/// the result: so that after a crash it can tell whether the delivery took place.
struct DeliveryJournal: Codable, Sendable {
  /// Where the destination's inbox was then; nil in a journal of an older release.
  let inbox: BytePath?
  /// The folder in the inbox in which it is staged; a name of its own.
  let staging: BytePath
  /// Under which it is being placed; nil while it is being copied.
  var name: BytePath?
  /// What stands in the result once it is placed.
  var output: [String: JSONValue]
  /// The manifest lies beside the video, not in a folder.
  var hasManifestBeside: Bool

  private enum CodingKeys: String, CodingKey {
    case inbox
    case staging
    case name
    case output
    case hasManifestBeside = "has_manifest_beside"
  }

  init(inbox: BytePath, staging: BytePath, hasManifestBeside: Bool) {
    self.inbox = inbox
    self.staging = staging
    self.hasManifestBeside = hasManifestBeside
    output = [:]
  }

  private static let limit = 65_536
  private static let ending = ".json"

  /// Writes it so that a crash leaves the old or the new one.
  func write(_ handoff: String, in folder: BytePath) throws {
    try DurableFile.write(
      try WireCoder.encode(self),
      to: folder.appending(handoff + Self.ending)
    )
  }

  /// Reads that of a handoff; nil where there is none.
  static func read(_ handoff: String, in folder: BytePath) throws -> DeliveryJournal? {
    let path = folder.appending(handoff + ending)
    guard try FileStatus.of(path) != nil else { return nil }
    let bytes = try FileDescriptor.open(path, 0).readAll(limit: limit)
    return try WireCoder.decode(DeliveryJournal.self, from: bytes)
  }

  /// Forgets that of a handoff.
  static func remove(_ handoff: String, in folder: BytePath) throws(SystemError) {
    try DurableFile.unlink(folder.appending(handoff + ending))
  }

  /// Removes what a broker has left that was killed while it wrote one; none is being written now.
  static func removeUnfinished(in folder: BytePath) throws(SystemError) {
    for entry in try Directory.entries(of: folder)
    where entry.name.bytes.first == UInt8(ascii: ".") && entry.name.lossyText.hasSuffix(".tmp") {
      try DurableFile.unlink(folder.appending(entry.name))
    }
  }

  /// The handoffs of which there is one.
  static func handoffs(in folder: BytePath) throws(SystemError) -> [String] {
    guard try FileStatus.of(folder) != nil else { return [] }
    return try Directory.entries(of: folder).compactMap { entry in
      guard let name = entry.name.exactText, name.hasSuffix(ending), !name.hasPrefix(".") else {
        return nil
      }
      return String(name.dropLast(ending.count))
    }
  }
}
