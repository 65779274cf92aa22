import Glibc
import HandoffTestSupport
import LinuxSystem
import Paths

/// Ways in which a file comes to be whole.
extension ExportWriter {
  /// One handle for the whole copy, with stalls.
  mutating func slowCopy() async throws {
    let kind = kind()
    let path = home.appending(name(kind))
    let bytes = try content(kind)
    let writer = self
    try await pour(bytes, to: path) { try writer.ready(path, bytes) }
  }

  /// A temporary name, then the final one.
  mutating func renamed() async throws {
    let kind = kind()
    let path = home.appending(name(kind))
    let endings = [".part", ".tmp", ".crdownload", ".filepart", ".partial"]
    let temporary = path.addingSuffix(endings[Int.random(in: 0..<endings.count, using: &random)])
    let bytes = try content(kind)
    try await pour(bytes, to: temporary) {}
    try ready(path, bytes)
    _ = try move(temporary, to: path)
  }

  /// As rsync does: a dot name, the source's time, then the final name.
  mutating func synced() async throws {
    let kind = kind()
    let name = name(kind)
    let path = home.appending(name)
    let temporary = home.appending("." + name.lossyText + ".a1B2c3")
    let bytes = try content(kind)
    try await pour(bytes, to: temporary) {}
    setModified(temporary, to: 1_576_861_712)
    try ready(path, bytes)
    _ = try move(temporary, to: path)
  }

  /// Full size from the first moment, zeros or a hole, filled from the front with one handle.
  mutating func preallocated() async throws {
    let kind = kind(provable: true)
    let path = home.appending(name(kind))
    let bytes = try content(kind)
    let file = try open(path, O_RDWR | O_CREAT | O_TRUNC)
    if coin() {
      try file.setSize(Int64(bytes.count))
    } else {
      try file.write([UInt8](repeating: 0, count: bytes.count))
    }
    try await stall()
    var offset: Int64 = 0
    for piece in pieces(bytes) {
      if Int(offset) + piece.count == bytes.count { try ready(path, bytes) }
      try Array(piece).withUnsafeBytes { try file.write($0, at: offset) }
      offset += Int64(piece.count)
      try await stall()
    }
    try file.close()
  }

  /// Each piece with an open and a close of its own, as Samba writes; at the end an old time.
  mutating func cycles() async throws {
    let kind = kind(provable: true)
    let path = home.appending(name(kind))
    let bytes = try content(kind)
    try put([], to: path)
    try await appendInCycles(bytes, to: path)
    try await stall()
    setModified(path, to: 1_709_290_800)
  }

  mutating func appendInCycles(_ bytes: [UInt8], to path: BytePath) async throws {
    let pieces = pieces(bytes)
    for (index, piece) in pieces.enumerated() {
      if index == pieces.count - 1 { try ready(path, bytes) }
      let file = try open(path, O_WRONLY | O_APPEND)
      try file.write(Array(piece))
      try file.close()
      if index < pieces.count - 1 { try await stall() }
    }
  }

  /// A copy that keeps a time of years ago.
  mutating func oldTime() async throws {
    let kind = kind()
    let path = home.appending(name(kind))
    let bytes = try content(kind)
    let file = try open(path, O_WRONLY | O_CREAT | O_TRUNC)
    try ready(path, bytes)
    try file.write(bytes)
    setModified(path, to: 1_300_000_000)
    try file.close()
  }

  /// A broken copy that is resumed later.
  mutating func resumed() async throws {
    let kind = kind(provable: true)
    let path = home.appending(name(kind))
    let bytes = try content(kind)
    let half = bytes.count * Int.random(in: 20...90, using: &random) / 100
    try put(Array(bytes[..<half]), to: path)
    try await stall()
    try await stall()
    let writer = self
    try await pour(Array(bytes[half...]), to: path, flags: O_APPEND) {
      try writer.ready(path, bytes)
    }
  }

  /// A folder with files in it is moved in at once.
  mutating func folderMovedIn() async throws {
    let outside = shared.scratch.appending("day-\(number)")
    try Directory.create(outside.appending("cam"))
    let inside = home.appending("day 1")
    var files: [(name: BytePath, bytes: [UInt8])] = []
    for index in 0..<Int.random(in: 2...4, using: &random) {
      let kind = kind()
      let name = BytePath(index == 0 ? "" : "cam").appending(name(kind, " \(index)"))
      let bytes = try content(kind)
      try put(bytes, to: outside.appending(name))
      files.append((name, bytes))
    }
    for file in files { try ready(inside.appending(file.name), file.bytes) }
    guard try move(outside, to: inside) else { return }
    guard coin() else { return }
    // Named anew: with what is in it, if the broker has not taken it.
    for file in files {
      try await leave(inside.appending(file.name), file.bytes, surely: coin(8))
    }
    let later = home.appending("day one")
    for file in files { try ready(later.appending(file.name), file.bytes) }
    let isMoved = try move(inside, to: later)
    for file in files { try ended((isMoved ? inside : later).appending(file.name), file.bytes) }
  }

  /// ffmpeg in real time: what it writes last makes the file whole.
  mutating func realTime() async throws {
    let kind: TortureVideo = coin() ? .mp4 : .mkv
    let path = home.appending(name(kind))
    let number = shared.truth.nextNumber()
    let line = try await realTimeLine(kind, number, path)
    guard await shell(line) == 0 else { throw TestSupportError("ffmpeg failed: \(line)") }
    // Told late: what was taken before would have another digest.
    guard let bytes = try contentIfThere(path) else { return }
    try ready(path, bytes)
  }

  func realTimeLine(
    _ kind: TortureVideo,
    _ number: UInt64,
    _ path: BytePath
  ) async throws -> String {
    let source = try await SampleVideo.mp4.path().lossyText
    let target = path.lossyText.replacing("'", with: "'\\''")
    return """
      exec ffmpeg -nostdin -v error -y -re -stream_loop 1 -i '\(source)' -c copy \
      -metadata comment=real-time-\(number) -flush_packets 1 \
      -f \(kind == .mp4 ? "mp4" : "matroska") '\(target)'
      """
  }

  func contentIfThere(_ path: BytePath) throws -> [UInt8]? {
    guard try FileStatus.of(path) != nil else { return nil }
    return try FileDescriptor.open(path, O_RDONLY).readAll(limit: 1 << 26)
  }
}
