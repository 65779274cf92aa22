import HandoffPluginKit
import HandoffProtocol
import LinuxSystem
import Paths
import Synchronization

/// The part of a remote that is the archive: one rclone command each.
///
/// All paths are relative to it.
final class Remote: Sendable {
  /// One file there.
  struct File: Hashable, Sendable {
    /// As rclone tells it, in UTF-8.
    let name: String
    let size: Int64
  }

  private static let notFound: [Int32] = [3, 4]

  let address: RemoteAddress
  let policy: RemoteProof.Policy
  let rclone: Rclone
  /// Words for the commands that move bytes.
  let bandwidth: [BytePath]
  private let known = Mutex<RemoteFeatures?>(nil)

  /// - Throws: `ResultError` with `not_configured`.
  init(_ text: String, _ settings: ArchiveSettings, _ context: DestinationContext) throws {
    address = try RemoteAddress(text)
    guard let path = settings.rcloneConfig.map({ BytePath($0) }), path.isAbsolute else {
      throw ResultError.notConfigured(
        "settings.rclone_config is not the absolute path of an rclone.conf"
      )
    }
    if settings.mhl == true {
      throw ResultError.notConfigured(
        "settings.mhl: ASC MHL generations are kept in folders only, not on a remote",
        remedy: "Leave it out; SHA256SUMS is kept."
      )
    }
    let config = try RemoteConfig(path, section: address.name)
    rclone = try Rclone(settings, config: config, context)
    policy = settings.verify ?? .auto
    bandwidth = settings.bandwidth.map { ["--bwlimit", BytePath($0)] } ?? []
  }

  /// What it can do; asked once.
  func features() async throws -> RemoteFeatures {
    if let features = known.withLock({ $0 }) { return features }
    let document = try await json(
      ["backend", "features", BytePath(address.description)],
      "asking \(address)"
    )
    let features = RemoteFeatures(document, kind: rclone.config.type ?? "")
    guard features.canMove || features.isBucketBased else {
      throw ResultError.notConfigured(
        "\(address.name) can neither rename a file nor is it a store of objects: a crash could leave half a"
          + " file under its name",
        remedy: "Name a remote that can, or archive to a folder."
      )
    }
    known.withLock { $0 = features }
    return features
  }

  /// The archive's own folder or bucket is there.
  func hasRoot() async throws -> Bool {
    let words: [BytePath] = ["lsjson", "--stat", BytePath(address.description)]
    let ended = try await rclone.run(words)
    if isMissing(ended) { return false }
    guard ended.isSuccess else { throw RemoteFailure.error(ended, "looking for \(address)") }
    return true
  }

  /// The files of a folder with some names, and those that begin with some prefix; none where the folder is
  /// not there.
  ///
  /// - Throws: `ResultError` with `not_configured` where the archive itself is not there.
  func files(in folder: String, named names: [String], beginning prefix: String? = nil) async throws
    -> [File]
  {
    var words: [BytePath] = ["lsjson", "--files-only", "--no-modtime", "--no-mimetype"]
    if try await features().ignoresCase { words.append("--ignore-case") }
    let patterns = names.map(Self.pattern) + (prefix.map { [Self.pattern($0) + "*"] } ?? [])
    for pattern in patterns { words += ["--include", BytePath("/" + pattern)] }
    let ended = try await rclone.run(words + [BytePath(address.place(folder))])
    if isMissing(ended) {
      guard try await hasRoot() else { throw missingRoot }
      return []
    }
    guard ended.isSuccess else {
      throw try await failure(ended, "listing \(address.place(folder))")
    }
    guard case .array(let entries) = try decoded(ended.output) else { return [] }
    return entries.compactMap { entry in
      guard let name = entry["Name"]?.text, let size = entry["Size"]?.integer else { return nil }
      return File(name: name, size: size)
    }
  }

  /// The size of a file; nil if it is not there.
  func size(of path: String) async throws -> Int64? {
    let parts = path.split(separator: "/", omittingEmptySubsequences: false)
    let name = String(parts.last ?? "")
    let folder = parts.dropLast().joined(separator: "/")
    return try await files(in: folder, named: [name]).first {
      Array($0.name.utf8) == Array(name.utf8)
    }?.size
  }

  /// Copies a file of this machine; whatever has the name is replaced.
  func upload(
    _ source: BytePath,
    to path: String,
    inPlace: Bool,
    _ progress: @escaping @Sendable (Int64) async -> Void = { _ in }
  ) async throws {
    // What is there may look the same and be a part; and what came is looked at afterwards anyway, while
    // rclone would delete it for a digest that it cannot read.
    let words: [BytePath] = ["copyto", "--ignore-times", "--ignore-checksum", "--no-traverse"]
    let ended = try await rclone.run(
      words + bandwidth + [source, BytePath(address.place(path))],
      inPlace: inPlace,
      progress
    )
    guard ended.isSuccess else {
      throw RemoteFailure.error(ended, "uploading \(address.place(path))")
    }
  }

  /// Gives a file another name.
  func move(_ from: String, to path: String) async throws {
    let words: [BytePath] = ["moveto", "--ignore-checksum", "--no-traverse"]
    let ended = try await rclone.run(
      words + [BytePath(address.place(from)), BytePath(address.place(path))]
    )
    guard ended.isSuccess else {
      throw RemoteFailure.error(ended, "renaming to \(address.place(path))")
    }
  }

  /// Removes a file, which is there.
  func delete(_ path: String) async throws {
    let ended = try await rclone.run(["deletefile", BytePath(address.place(path))])
    guard ended.isSuccess else {
      throw RemoteFailure.error(ended, "removing \(address.place(path))")
    }
  }

  /// The bytes of a small file, which is there.
  func content(of path: String) async throws -> [UInt8] {
    let ended = try await rclone.run(["cat", BytePath(address.place(path))])
    guard ended.isSuccess else {
      throw RemoteFailure.error(ended, "reading \(address.place(path))")
    }
    return ended.output
  }

  /// Runs a command about something that is there, which answers with a document.
  func json(_ words: [BytePath], _ doing: String) async throws -> JSONValue {
    let ended = try await rclone.run(words)
    guard ended.isSuccess else {
      throw try await failure(ended, doing)
    }
    return try decoded(ended.output)
  }

  /// The failure of a command that newer releases take for one about a file when an S3 service refuses the
  /// account: looking at the bucket alone tells the reason.
  private func failure(_ ended: Rclone.Ended, _ doing: String) async throws -> ResultError {
    let words = ["can't limit to single files", "is a file not a directory"]
    if ended.errors.contains(where: { error in words.contains { error.contains($0) } }) {
      let bucket = "\(address.name):\(address.path.prefix { $0 != "/" })"
      let again = try await rclone.run(["lsjson", "--stat", BytePath(bucket)])
      if !again.isSuccess { return RemoteFailure.error(again, doing) }
    }
    return RemoteFailure.error(ended, doing)
  }

  private var missingRoot: ResultError {
    .notConfigured(
      "\(address) is not there",
      remedy:
        "Make the bucket or folder; it is never made by itself, so that a wrong name is found."
    )
  }

  private func isMissing(_ ended: Rclone.Ended) -> Bool {
    Self.notFound.contains { ended.status == .exited($0) }
  }

  private func decoded(_ bytes: [UInt8]) throws -> JSONValue {
    do {
      return try WireCoder.decode(JSONValue.self, from: bytes, limit: .max)
    } catch {
      throw ResultError(
        .receiverFailed,
        "rclone's answer is not what it should be: \(error)",
        effect: .none,
        retry: .later
      )
    }
  }

  /// A name as a pattern that matches it alone.
  private static func pattern(_ name: String) -> String {
    // Not by characters: one of these with an accent would be another one.
    name.unicodeScalars.map { "*?[]{}\\".unicodeScalars.contains($0) ? "\\\($0)" : "\($0)" }
      .joined()
  }
}
