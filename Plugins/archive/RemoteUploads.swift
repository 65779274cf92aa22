import Glibc
import HandoffPluginKit
import HandoffProtocol
import LinuxSystem
import Paths

/// Remembers in the work folder which uploads have begun straight to their names, so that what the service
/// keeps of one that a crash has cut off can be withdrawn: S3 keeps, and charges for, the parts.
struct RemoteUploads: Sendable {
  private static let thread = BlockingThread("archive.uploads")
  /// How far the service's clock may be from this machine's, in milliseconds.
  private static let skew: Int64 = 60_000

  private struct Mark: Codable, Sendable {
    var path: String
    var begun: Timestamp
  }

  private let remote: Remote
  private let features: RemoteFeatures
  private let folder: BytePath

  init(_ remote: Remote, _ features: RemoteFeatures, work: BytePath) {
    self.remote = remote
    self.features = features
    folder = work.appending("remote/uploads")
  }

  private var keepsParts: Bool { features.kind == "s3" }

  /// Remembers that an upload begins.
  func begin(_ id: String, _ path: String) async throws {
    guard keepsParts else { return }
    let mark = Mark(path: path, begun: Timestamp(milliseconds: Self.now))
    let file = folder.appending(id)
    try await Self.thread.run { [folder] in
      try Directory.createDurably(folder, permissions: 0o700)
      try DurableFile.write(try WireCoder.encode(mark), to: file)
    }
  }

  /// Forgets an upload that is whole.
  func finish(_ id: String) async throws {
    guard keepsParts else { return }
    let file = folder.appending(id)
    try await Self.thread.run { _ = try DurableFile.unlink(file) }
  }

  /// Withdraws the parts of an upload that was cut off, if it is certain whose they are.
  ///
  /// rclone withdraws by the beginning of a name. So nothing is done unless every unfinished upload there is
  /// of exactly this name and was begun after this one.
  func sweep(_ id: String) async throws {
    guard keepsParts, let mark = try await read(id) else { return }
    let place = BytePath(remote.address.place(mark.path))
    let listed = try await remote.json(
      ["backend", "list-multipart-uploads", place],
      "listing unfinished uploads of \(mark.path)"
    )
    let pending = Self.pending(listed)
    let earliest = mark.begun.milliseconds - Self.skew
    let areOurs = pending.allSatisfy { key, begun in
      isKey(key, of: mark.path) && begun.map { $0 >= earliest } ?? false
    }
    if areOurs, !pending.isEmpty {
      let words: [BytePath] = ["backend", "cleanup", "-o", "max-age=0s", place]
      let ended = try await remote.rclone.run(words)
      guard ended.isSuccess else {
        throw RemoteFailure.error(ended, "withdrawing an unfinished upload of \(mark.path)")
      }
    } else if !pending.isEmpty {
      ArchiveError.log(
        "unfinished uploads at \(place.displayText) may be somebody else's: left alone"
      )
    }
    try await finish(id)
  }

  /// Milliseconds since 1970.
  private static var now: Int64 {
    var time = timespec()
    // CLOCK_REALTIME always exists, so the call cannot fail.
    clock_gettime(CLOCK_REALTIME, &time)
    return Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000
  }

  private func read(_ id: String) async throws -> Mark? {
    let file = folder.appending(id)
    return try await Self.thread.run {
      guard try FileStatus.of(file) != nil else { return nil }
      let bytes = try FileDescriptor.open(file, O_RDONLY).readAll(limit: 1 << 16)
      return try WireCoder.decode(Mark.self, from: bytes)
    }
  }

  /// Key and beginning, in milliseconds, of every upload that was listed.
  private static func pending(_ listed: JSONValue) -> [(key: String, begun: Int64?)] {
    guard case .object(let buckets) = listed else { return [] }
    return buckets.values.flatMap { bucket -> [(key: String, begun: Int64?)] in
      guard case .array(let uploads) = bucket else { return [] }
      return uploads.map { upload in
        let begun = upload["Initiated"]?.text.flatMap { Timestamp(rfc3339: $0)?.milliseconds }
        return (upload["Key"]?.text ?? "", begun)
      }
    }
  }

  /// The key, which is without its bucket, is that of a path.
  private func isKey(_ key: String, of path: String) -> Bool {
    let whole = remote.address.place(path).drop { $0 != ":" }.dropFirst().split(separator: "/")
    let parts = key.split(separator: "/")
    return !parts.isEmpty && (whole.elementsEqual(parts) || whole.dropFirst().elementsEqual(parts))
  }
}
