import Glibc
import HandoffProtocol
import LinuxSystem
import Paths

/// The file outside the ledger that says how far the chain of events went: a cut end is found by it.
///
/// One line of fixed length, written in place after each commit. It may be behind the ledger after a
/// power cut, never ahead of it.
final class HeadFile: Sendable {
  private let path: BytePath
  private let file: FileDescriptor

  /// Opens the file, and makes it where there is none.
  init(_ path: BytePath) throws {
    self.path = path
    file = try FileDescriptor.open(path, O_RDWR | O_CREAT | O_NOFOLLOW, mode: 0o600)
  }

  /// What a file says; nil where there is no file, or none with this form.
  static func read(_ path: BytePath) throws -> ChainHead? {
    do {
      let file = try FileDescriptor.open(path, O_RDONLY | O_NOFOLLOW)
      return parse(try file.readAll(limit: 4096))
    } catch  where error.errno == ENOENT {
      return nil
    }
  }

  /// Replaces the line.
  ///
  /// It reaches the disk when the kernel likes.
  func write(_ head: ChainHead) throws {
    let number = String(head.sequence)
    let padding = String(repeating: "0", count: max(0, Self.digits - number.utf8.count))
    let line = Array("handoff-head \(padding)\(number) \(head.code.hexDigits)\n".utf8)
    let count = try checked("pwrite", path) { pwrite(file.rawValue, line, line.count, 0) }
    guard count == line.count else { throw SystemError(EIO, "pwrite", path) }
  }

  /// Waits until the line is on the disk.
  func sync() throws {
    try file.sync()
  }

  private static let digits = 19

  private static func parse(_ bytes: [UInt8]) -> ChainHead? {
    let words = String(decoding: bytes, as: UTF8.self).split(separator: " ")
    guard words.count == 3, words[0] == "handoff-head", let sequence = Int64(words[1]),
      words[2].last == "\n", let code = [UInt8](hexDigits: String(words[2].dropLast())),
      code.count == 32
    else { return nil }
    return ChainHead(sequence: sequence, code: code)
  }
}
