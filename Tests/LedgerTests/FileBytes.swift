import Glibc
import LinuxSystem
import Paths

/// Whole small files, for tests that put an old one back.
enum FileBytes {
  static func read(_ path: BytePath) throws -> [UInt8] {
    try FileDescriptor.open(path, O_RDONLY).readAll(limit: 1 << 20)
  }

  static func write(_ bytes: [UInt8], to path: BytePath) throws {
    let file = try FileDescriptor.open(path, O_WRONLY | O_CREAT | O_TRUNC, mode: 0o600)
    try file.write(bytes)
    try file.close()
  }
}
