import Glibc
import LinuxSystem
import Paths

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
