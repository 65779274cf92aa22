import Glibc
import HandoffTestSupport
import LinuxSystem
import Paths

/// What happens to files after they were whole, and what never comes to be whole.
extension ExportWriter {
  /// The same name exported several times: in place or by a rename, each version after the broker has
  /// the one before, or too early for that.
  mutating func rewritten() async throws {
    let kind = kind(provable: true)
    let path = home.appending(name(kind))
    var last = try content(kind)
    let first = self
    try await pour(last, to: path) { try first.ready(path, last) }
    for _ in 0..<Int.random(in: 1...3, using: &random) {
      try await leave(path, last, surely: coin())
      let next = try content(kind)
      switch Int.random(in: 0..<3, using: &random) {
      case 0:
        let writer = self
        try await pour(next, to: path) { try writer.ready(path, next) }
      case 1:
        try put([], to: path)
        try await appendInCycles(next, to: path)
      default:
        let draft = shared.scratch.appending("version-\(number)")
        try put(next, to: draft)
        try ready(path, next)
        _ = try move(draft, to: path)
      }
      try ended(path, last)
      last = next
    }
  }

  /// A finished file gets another name.
  mutating func renamedLater() async throws {
    let kind = kind()
    let path = home.appending(name(kind))
    let later = home.appending(name(kind, " renamed"))
    let bytes = try content(kind)
    try ready(path, bytes)
    try put(bytes, to: path)
    try await leave(path, bytes, surely: coin())
    try ready(later, bytes)
    let isMoved = try move(path, to: later)
    try ended(isMoved ? path : later, bytes)
  }

  /// The same bytes under two names.
  mutating func twice() async throws {
    let kind = kind()
    let bytes = try content(kind)
    for suffix in [" a", " b"] {
      let path = home.appending(name(kind, suffix))
      let writer = self
      try await pour(bytes, to: path) { try writer.ready(path, bytes) }
      if coin() { try await leave(path, bytes, surely: true) }
    }
  }

  /// Deleted, and the name used again for something else.
  mutating func deleted() async throws {
    let kind = kind()
    let path = home.appending(name(kind))
    let bytes = try content(kind)
    try ready(path, bytes)
    try put(bytes, to: path)
    try await leave(path, bytes, surely: coin())
    unlink(path.nulTerminated)
    try ended(path, bytes)
    guard coin() else { return }
    let next = try content(kind)
    let writer = self
    try await pour(next, to: path) { try writer.ready(path, next) }
  }

  /// Cut to a part after it was whole, and perhaps written again.
  mutating func truncated() async throws {
    let kind = kind(provable: true)
    let path = home.appending(name(kind))
    let bytes = try content(kind)
    let writer = self
    try await pour(bytes, to: path) { try writer.ready(path, bytes) }
    try await leave(path, bytes, surely: true)
    let part = Array(bytes[..<(bytes.count * Int.random(in: 10...90, using: &random) / 100)])
    guard try FileStatus.of(path) != nil else { return }
    let file = try open(path, O_WRONLY)
    try file.setSize(Int64(part.count))
    try file.close()
    try ended(path, bytes)
    // The broker may have taken the whole file's name away in between.
    guard try contentIfThere(path) == part else { return }
    try never(path, part)
    guard coin() else { return }
    try await stall()
    let next = try content(kind)
    try await pour(next, to: path) { try writer.ready(path, next) }
    try ended(path, part)
  }

  /// The exporter dies half way.
  mutating func killed() async throws {
    let kind = kind(provable: coin())
    let path = home.appending(name(kind))
    let bytes = try content(kind)
    let half = Array(bytes[..<(bytes.count * Int.random(in: 10...95, using: &random) / 100)])
    let event: Truth.Event = kind.declaresNoEnd ? .unprovable : .never
    try shared.truth.tell(event, path, Truth.digest(half), scenario)
    let whole = shared.scratch.appending("whole-\(number)")
    try put(half, to: whole)
    // A process of its own that has the file open when it is killed.
    let command = ProcessCommand(
      try Directory.canonical("/proc/self/exe"),
      arguments: ["hang", whole, path]
    )
    let writer = try await SpawnedProcess.spawn(command)
    _ = try await poll { try FileStatus.of(path)?.size == Int64(half.count) ? true : nil }
    try await stall()
    kill(writer.id, SIGKILL)
    _ = await writer.exit()
    unlink(whole.nulTerminated)
  }

  /// ffmpeg dies half way: an MP4 without its index.
  mutating func realTimeKilled() async throws {
    let path = home.appending(name(.mp4))
    let line = try await realTimeLine(.mp4, shared.truth.nextNumber(), path)
    let command = ProcessCommand("/bin/sh", arguments: ["-c", BytePath(line)])
    let writer = try await SpawnedProcess.spawn(command)
    try await Task.sleep(for: .milliseconds(Int.random(in: 300...2000, using: &random)))
    kill(writer.id, SIGKILL)
    _ = await writer.exit()
    guard let bytes = try contentIfThere(path) else { return }
    try never(path, bytes)
  }
}
