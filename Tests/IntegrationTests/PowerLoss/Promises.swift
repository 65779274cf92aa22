import HandoffProtocol
import Paths

/// What the broker has told others, and may not take back after a power cut.
struct Promises {
  /// Local identifiers that went out, to receivers or senders.
  private(set) var assets: Set<String> = []
  /// Rows of handoffs whose request went to a receiver.
  private(set) var submitted: Set<Int64> = []
  /// Rows of handoffs whose result was answered.
  private(set) var results: Set<Int64> = []
  /// Sources, by inode number, that are gone from where they were exported.
  private(set) var removed: Set<UInt64> = []
  /// Places in the log at which something was promised.
  private(set) var moments: [Int] = []

  /// Results that a receiver has sent and that are not answered, by socket and message.
  private var unanswered: [String: Int64] = [:]
  private var halves: [UInt64: [UInt8]] = [:]
  private let folders: Set<UInt64>

  /// - Parameter folders: the inode numbers of the drop folders.
  init(folders: Set<UInt64>) {
    self.folders = folders
  }

  /// Takes in a record, before the disk model does.
  mutating func take(_ record: WriteLog.Record, at index: Int, _ log: [UInt8]) {
    switch record {
    case .close(let socket):
      halves[socket] = nil
      unanswered = unanswered.filter { !$0.key.hasPrefix("\(socket) ") }
    case .hear(let socket, let bytes): hear(Array(log[bytes]), socket)
    case .say(let socket, let bytes): if say(Array(log[bytes]), socket) { moments.append(index) }
    case .unlink(let folder, _, let inode): if folders.contains(folder) { remove(inode, index) }
    case .rename(let from, let to, let inode, _):
      // The name under which a source is looked at before it is removed is still in its folder.
      if folders.contains(from.0), from.0 != to.0 { remove(inode, index) }
    default: break
    }
  }

  private mutating func remove(_ inode: UInt64, _ index: Int) {
    if removed.insert(inode).inserted { moments.append(index) }
  }

  private mutating func hear(_ bytes: [UInt8], _ socket: UInt64) {
    var lines = ((halves[socket] ?? []) + bytes)
      .split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
    halves[socket] = Array(lines.removeLast())
    for line in lines {
      guard let message = Self.message(line), message["method"]?.text == "handoff.result",
        let id = message["id"], let row = Self.row(message["params"]?["state"])
      else { continue }
      unanswered["\(socket) \(id)"] = row
    }
  }

  /// Returns whether anything was promised.
  private mutating func say(_ bytes: [UInt8], _ socket: UInt64) -> Bool {
    let identifiers = Self.identifiers(in: bytes)
    assets.formUnion(identifiers)
    var isPromise = !identifiers.isEmpty
    for line in bytes.split(separator: UInt8(ascii: "\n")) {
      guard let message = Self.message(line), let id = message["id"] else { continue }
      if message["method"]?.text == "submit",
        let row = Self.row(message["params"]?["request"]?["state"])
      {
        submitted.insert(row)
        isPromise = true
      }
      if message["method"] == nil, message["result"] != nil,
        let row = unanswered.removeValue(forKey: "\(socket) \(id)")
      {
        results.insert(row)
        isPromise = true
      }
    }
    return isPromise
  }

  private static func message(_ line: some Sequence<UInt8>) -> JSONValue? {
    try? WireCoder.decode(JSONValue.self, from: Array(line), limit: .max)
  }

  /// The row that a state token names.
  private static func row(_ state: JSONValue?) -> Int64? {
    state?.text?.split(separator: ".").first.flatMap { Int64($0) }
  }

  /// `UUID/L0/001`, its slashes escaped or not.
  private static func identifiers(in bytes: [UInt8]) -> [String] {
    let text = String(decoding: bytes, as: UTF8.self)
    guard text.contains("L0") else { return [] }
    return text.split(separator: "\"").compactMap { word in
      let plain = word.filter { $0 != "\\" }
      return plain.hasSuffix("/L0/001") && plain.utf8.count == 43 ? String(plain) : nil
    }
  }
}
