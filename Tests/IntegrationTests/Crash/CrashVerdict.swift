import Digests
import Glibc
import HandoffProtocol
import HandoffTestSupport
import Ledger
import LinuxSystem
import Paths

/// What must hold after every walk, wherever it was stopped.
struct CrashVerdict {
  let trial: CrashTrial

  private var walk: CrashWalk { trial.walk }
  private var root: BytePath { trial.root }

  /// What is wrong, in words; nothing where all holds.
  func complaints() async throws -> [String] {
    let contents = try await videos()
    return try await assets(contents) + renditions(contents) + handoffs() + inbox(contents)
      + originals(contents)
      + chain() + leftovers(await open())
  }

  /// The bytes of each video, by their digest.
  private func videos() async throws -> [String: [UInt8]] {
    var contents: [String: [UInt8]] = [:]
    for number in walk.videos {
      let bytes = try await Scene.video(number)
      contents[try SHA256.digest(of: bytes).hexDigits] = bytes
    }
    return contents
  }

  // MARK: The library

  private func assets(_ contents: [String: [UInt8]]) async throws -> [String] {
    var wrong: [String] = []
    let scene = Scene(broker: trial.broker)
    let assets = try await trial.broker.json("assets").elements
    let digests = assets.compactMap { $0["sha256"]?.text }.sorted()
    if digests != contents.keys.sorted() { wrong.append("assets: \(digests)") }
    let objects = try scene.objects().map(\.lossyText).sorted()
    let derived = walk.hasRenditions ? try contents.values.map(Self.rendition).map(\.digest) : []
    if objects != (contents.keys + derived).sorted() { wrong.append("objects: \(objects)") }
    for (digest, bytes) in contents where objects.contains(digest) {
      if try read(scene.object(digest)) != bytes { wrong.append("the object \(digest) is damaged") }
      if try scene.record(digest)["sha256"]?.text != digest { wrong.append("record of \(digest)") }
    }
    if walk.name == "re-export", assets.count(where: { $0["supersedes"]?.text != nil }) != 1 {
      wrong.append("the new export supersedes nothing: \(assets)")
    }
    return wrong
  }

  /// The bytes that the plugin makes of an asset's, and their digest; see CountingDestination.swift.
  private static func rendition(of bytes: [UInt8]) throws -> (digest: String, bytes: [UInt8]) {
    let derived = bytes + [0, 0, 0, 16] + Array("freecounting".utf8)
    return (try SHA256.digest(of: derived).hexDigits, derived)
  }

  /// Each asset has its one, the ledger and the record say the same of it, and the script was given it.
  private func renditions(_ contents: [String: [UInt8]]) async throws -> [String] {
    guard walk.hasRenditions else { return [] }
    var wrong: [String] = []
    let scene = Scene(broker: trial.broker)
    for (digest, bytes) in contents {
      let derived = try Self.rendition(of: bytes)
      let record = try scene.record(digest)
      let named = record["renditions"]?.elements.compactMap { $0["sha256"]?.text }
      if named != [derived.digest] { wrong.append("the record of \(digest) has \(record)") }
      if try read(scene.object(derived.digest)) != derived.bytes {
        wrong.append("the rendition \(derived.digest) is damaged")
      }
      let asset = try await trial.broker.json(
        "show",
        BytePath(record["local_identifier"]?.text ?? "")
      )
      let known = asset["renditions"]?.elements.map { [$0["sha256"]?.text, $0["status"]?.text] }
      if known != [[derived.digest, "present"]] { wrong.append("the ledger has \(asset)") }
      let given = try lines(trial.log("script"))
      if !given.allSatisfy({ $0 == derived.digest }) {
        wrong.append("the script was given \(given)")
      }
    }
    return wrong
  }

  private func originals(_ contents: [String: [UInt8]]) throws -> [String] {
    let path = trial.broker.exports.appending("clip.mp4")
    let isThere = try FileStatus.of(path) != nil
    guard isThere == walk.keepsOriginal else { return ["the original: \(isThere)"] }
    guard isThere else { return [] }
    return contents.values.contains(try read(path)) ? [] : ["the original has other bytes"]
  }

  /// The handoffs that have no end yet: a person may still let them go on.
  private func open() async throws -> Set<String> {
    let handoffs = try await trial.handoffs() ?? []
    return Set(handoffs.filter { $0["finished_at"]?.text == nil }.compactMap { $0["id"]?.text })
  }

  /// Staging files, drafts, and grants of handoffs that have ended.
  private func leftovers(_ open: Set<String>) throws -> [String] {
    let library = root.appending("library")
    var left = try names(library.appending("staging"))
    for destination in try names(library.appending("grants")) {
      left += try names(library.appending("grants").appending(destination))
        .filter { !open.contains($0.lossyText) }
    }
    left += try names(root.appending("state")).filter { $0.lossyText.hasSuffix(".tmp") }
    return left.isEmpty ? [] : ["left behind: \(left.map(\.lossyText))"]
  }

  // MARK: The receivers

  /// A success is one that the receiver counted, and nothing was counted twice.
  private func handoffs() async throws -> [String] {
    guard let handoffs = try await trial.handoffs() else { return ["no handoffs can be listed"] }
    var wrong: [String] = []
    for destination in walk.destinations where destination != "inbox" {
      let done = try lines(trial.log(destination))
      let own = handoffs.filter { $0["destination"]?.text == destination }
      let successes = own.count { $0["status"]?.text == "succeeded" }
      if Set(done).count != done.count { wrong.append("\(destination) did it twice: \(done)") }
      if successes > done.count { wrong.append("a false success of \(destination): \(done)") }
      if destination == "asked", done.count != own.count { wrong.append("asked did \(done)") }
      if done.count > own.count { wrong.append("\(destination) did more: \(done)") }
    }
    return wrong
  }

  private func inbox(_ contents: [String: [UInt8]]) throws -> [String] {
    guard walk.destinations.contains("inbox") else { return [] }
    let inbox = root.appending("inbox")
    let names = try names(inbox)
    let videos = names.filter { $0.lossyText.hasSuffix(".mp4") }
    let found = try videos.map { try SHA256.digest(of: read(inbox.appending($0))).hexDigits }
    guard found.sorted() == contents.keys.sorted(), names.count == 2 * videos.count else {
      return ["the inbox has \(names.map(\.lossyText))"]
    }
    return []
  }

  // MARK: The ledger

  private func chain() async throws -> [String] {
    let reader = try await Ledger.openForReading(directory: root.appending("state"))
    let verdict = try await reader.verifyChain()
    try await reader.close()
    guard case .intact = verdict else { return ["the chain: \(verdict)"] }
    return []
  }

  // MARK: Files

  private func read(_ path: BytePath) throws -> [UInt8] {
    try FileDescriptor.open(path, O_RDONLY).readAll(limit: 1 << 26)
  }

  private func lines(_ path: BytePath) throws -> [Substring] {
    guard try FileStatus.of(path) != nil else { return [] }
    return String(decoding: try read(path), as: UTF8.self).split(separator: "\n")
  }

  private func names(_ folder: BytePath) throws -> [BytePath] {
    try Directory.entries(of: folder).map(\.name)
  }
}
