import Glibc
import LinuxSystem
import Paths

/// A folder that is removed with everything in it at the end of a test.
final class TemporaryFolder {
  let path: BytePath

  init() throws {
    var template = BytePath("/tmp/handoff-test.XXXXXX").nulTerminated
    guard mkdtemp(&template) != nil else { throw SystemError.last("mkdtemp") }
    path = BytePath(template.map { UInt8(bitPattern: $0) })
  }

  deinit {
    remove(path)
  }

  private func remove(_ path: BytePath) {
    for entry in (try? Directory.entries(of: path)) ?? [] {
      let inner = path.appending(entry.name)
      if entry.kind == .directory { remove(inner) } else { unlink(inner.nulTerminated) }
    }
    rmdir(path.nulTerminated)
  }

  func write(_ text: String, to name: BytePath) throws -> BytePath {
    let file = path.appending(name)
    try FileDescriptor.open(file, O_WRONLY | O_CREAT | O_TRUNC).write(Array(text.utf8))
    return file
  }
}

/// The child processes of this process that have ended and were not collected.
func zombies() throws -> [BytePath] {
  let own = getpid()
  return try Directory.entries(of: "/proc").map(\.name).filter { name in
    guard let first = name.bytes.first, (48...57).contains(first) else { return false }
    let file = BytePath("/proc").appending(name).appending("stat")
    guard let bytes = try? FileDescriptor.open(file, O_RDONLY).readAll(limit: 10_000) else {
      return false
    }
    let fields = String(decoding: bytes, as: UTF8.self).split(separator: ")").last?
      .split(separator: " ")
    return fields?.first == "Z" && fields?.dropFirst().first == "\(own)"
  }
}

/// Looks again and again, a hundredth of a second apart, for what another process does.
func eventually(_ condition: () throws -> Bool) async throws -> Bool {
  for _ in 0..<1000 {
    if try condition() { return true }
    try await Task.sleep(for: .milliseconds(10))
  }
  return false
}
