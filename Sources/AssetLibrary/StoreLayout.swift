import HandoffProtocol
import Paths

/// Where everything in the library is, byte for byte.
///
/// ```
/// LIBRARY/                                     0700
///   library.json                               0600  {"format":1,"id":"<32 hex digits>"}
///   ledger-mark.json                           0600  how far the ledger has come, see LedgerMark
///   objects/                                   0700
///     ab/                                      0700  the digest's first two digits; 00 to ff
///       ab…                                    0444  the resource; 64 lower-case hex digits, its SHA-256
///       ab….json                               0600  the asset's record, see AssetRecord
///   staging/                                   0700
///     import-<32 hex digits>                         a resource on its way in
///     record-<32 hex digits>                         a record, or library.json, on its way in
///   grants/                                    0700
///     <destination>/                           0700
///       <handoff id>/                          0700
///         <n>/                                 0700  1, 2, 3 …: the order of the request's identifiers
///           <export file name>                 0444  a hard link to the resource
///   set-aside/                                 0700
///     <64 hex digits>-<32 hex digits>                an object that was damaged; never deleted here
/// ```
///
/// Nothing is written in place: a file is made in `staging`, synced, renamed to its name, and the
/// folder is synced. A name in `objects` is therefore either absent or whole. The names in `staging`
/// hold nothing of the source's name, so a name of 255 bytes is no trouble, and a sweep removes only
/// what looks like them and is not locked (flock(2)) by a living import.
///
/// All of it is one file system: `objects`, `staging`, `grants` and `set-aside` must not be mounts.
/// All folders are the broker's alone; receivers run as its user and see their grants only.
struct StoreLayout: Hashable, Sendable {
  /// The format that this version writes, and the newest that it reads.
  static let format = 1

  let root: BytePath

  var libraryFile: BytePath { root.appending("library.json") }
  var ledgerMark: BytePath { root.appending("ledger-mark.json") }
  var objects: BytePath { root.appending("objects") }
  var staging: BytePath { root.appending("staging") }
  var grants: BytePath { root.appending("grants") }
  var setAside: BytePath { root.appending("set-aside") }

  /// The folders, outermost first.
  var folders: [BytePath] { [root, objects, staging, grants, setAside] }

  /// The folders of objects, `00` to `ff`.
  var shards: [BytePath] {
    (UInt8.min...UInt8.max).map { objects.appending([$0].hexDigits) }
  }

  func shard(_ digest: ContentDigest) -> BytePath {
    objects.appending(String(digest.hex.prefix(2)))
  }

  func object(_ digest: ContentDigest) -> BytePath {
    shard(digest).appending(digest.hex)
  }

  func record(_ digest: ContentDigest) -> BytePath {
    shard(digest).appending(digest.hex + ".json")
  }

  func newSetAside(_ digest: ContentDigest) -> BytePath {
    setAside.appending("\(digest.hex)-\(Self.randomDigits())")
  }

  func newStaging(_ kind: StagingKind) -> BytePath {
    staging.appending("\(kind.rawValue)-\(Self.randomDigits())")
  }

  /// The name is one that ``newStaging(_:)`` makes.
  static func isStagingName(_ name: BytePath) -> Bool {
    let parts = name.bytes.split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
    guard parts.count == 2,
      StagingKind(rawValue: String(decoding: parts[0], as: UTF8.self)) != nil
    else { return false }
    return parts[1].count == 32 && parts[1].allSatisfy(isHexDigit)
  }

  /// 32 hexadecimal digits that no other name has.
  static func randomDigits() -> String {
    var generator = SystemRandomNumberGenerator()
    return (0..<16).map { _ in UInt8.random(in: 0...255, using: &generator) }.hexDigits
  }

  private static func isHexDigit(_ byte: UInt8) -> Bool {
    (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
      || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(byte)
  }
}

/// What a file in `staging` is going to be.
enum StagingKind: String, Hashable, Sendable {
  case `import`
  case record
}
