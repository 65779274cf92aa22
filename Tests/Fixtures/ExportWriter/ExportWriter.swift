import Glibc
import HandoffTestSupport
import LinuxSystem
import Paths

/// One writer with its own random numbers: the steps of which its scenarios are made.
struct ExportWriter {
  /// What all writers share.
  struct Shared: Sendable {
    let truth: Truth
    let imports: Imports
    let templates: [TortureVideo: [UInt8]]
    /// On the drop folders' file system, but outside of them.
    let scratch: BytePath
    let pace: Pace
  }

  /// How long things take.
  struct Pace: Sendable {
    /// The broker's quiet period.
    var quiet: Duration
    var longestStall: Duration
    /// An import that takes longer counts as lost.
    var patience: Duration
  }

  let shared: Shared
  let number: Int
  /// Where this writer exports to.
  let home: BytePath
  var random: SeededGenerator
  var scenario = ""

  private static let stems = ["clip", "final cut", "Export 1", "\u{E9}t\u{E9}", "a'b", "take_07"]

  // MARK: Content

  mutating func kind(provable: Bool? = nil) -> TortureVideo {
    let kinds: [TortureVideo] =
      switch provable {
      case nil: TortureVideo.allCases
      case true?: TortureVideo.provable
      case false?: TortureVideo.withoutEnd
      }
    return kinds[Int.random(in: 0..<kinds.count, using: &random)]
  }

  func content(_ kind: TortureVideo) throws -> [UInt8] {
    try kind.bytes(shared.truth.nextNumber(), shared.templates[kind] ?? [])
  }

  /// A name that other writers use in their folders, too.
  mutating func name(_ kind: TortureVideo, _ suffix: String = "") -> BytePath {
    let stem = Self.stems[Int.random(in: 0..<Self.stems.count, using: &random)]
    return BytePath("\(stem)\(suffix).\(kind.ending)")
  }

  // MARK: Time

  /// Mostly short, sometimes longer than the quiet period, now and then as long as allowed.
  mutating func stall() async throws {
    let longest: Duration =
      switch Int.random(in: 0..<20, using: &random) {
      case 0: shared.pace.longestStall
      case 1...5: min(shared.pace.longestStall, shared.pace.quiet * 5)
      default: .milliseconds(200)
      }
    let milliseconds = Int(longest / .milliseconds(1))
    try await Task.sleep(for: .milliseconds(Int.random(in: 0...milliseconds, using: &random)))
  }

  mutating func coin(_ parts: Int = 2) -> Bool { Int.random(in: 0..<parts, using: &random) == 0 }

  // MARK: Truth

  func ready(_ path: BytePath, _ bytes: [UInt8]) throws {
    try shared.truth.tell(.ready, path, Truth.digest(bytes), scenario)
  }

  func never(_ path: BytePath, _ bytes: [UInt8]) throws {
    try shared.truth.tell(.never, path, Truth.digest(bytes), scenario)
  }

  func ended(_ path: BytePath, _ bytes: [UInt8]) throws {
    try shared.truth.tell(.ended, path, Truth.digest(bytes), scenario)
  }

  /// Leaves a version alone until the broker has it, or only for a moment.
  mutating func leave(_ path: BytePath, _ bytes: [UInt8], surely: Bool) async throws {
    guard surely else { return try await stall() }
    try shared.truth.tell(.awaited, path, Truth.digest(bytes), scenario)
    let digest = try Truth.digest(bytes)
    _ = try await shared.imports.wait(for: digest, within: shared.pace.patience)
  }

  // MARK: Files

  func open(_ path: BytePath, _ flags: CInt) throws -> FileDescriptor {
    try FileDescriptor.open(path, flags, mode: 0o644)
  }

  /// Pieces of random sizes, at most some of them.
  mutating func pieces(_ bytes: [UInt8], most: Int = 8) -> [ArraySlice<UInt8>] {
    let cuts = (1..<Int.random(in: 2...most, using: &random)).map { _ in
      Int.random(in: 1..<bytes.count, using: &random)
    }
    let ends = Set(cuts).sorted() + [bytes.count]
    return zip([0] + ends, ends).map { bytes[$0..<$1] }
  }

  /// Writes with one open handle and stalls; `whenWhole` comes before the last piece.
  mutating func pour(
    _ bytes: [UInt8],
    to path: BytePath,
    flags: CInt = O_CREAT | O_TRUNC,
    whenWhole: () throws -> Void
  ) async throws {
    let file = try open(path, O_WRONLY | flags)
    let pieces = pieces(bytes)
    for (index, piece) in pieces.enumerated() {
      if index == pieces.count - 1 { try whenWhole() }
      try file.write(Array(piece))
      try await stall()
    }
    try file.close()
  }

  /// Writes at once.
  func put(_ bytes: [UInt8], to path: BytePath) throws {
    let file = try open(path, O_WRONLY | O_CREAT | O_TRUNC)
    try file.write(bytes)
    try file.close()
  }

  func setModified(_ path: BytePath, to seconds: Int) {
    let times = [timespec(tv_sec: seconds, tv_nsec: 0), timespec(tv_sec: seconds, tv_nsec: 0)]
    utimensat(AT_FDCWD, path.nulTerminated, times, 0)
  }

  /// False if the source is not there any more: the broker has taken it.
  func move(_ from: BytePath, to target: BytePath) throws -> Bool {
    if rename(from.nulTerminated, target.nulTerminated) == 0 { return true }
    guard errno == ENOENT else { throw SystemError.last("rename") }
    return false
  }
}
