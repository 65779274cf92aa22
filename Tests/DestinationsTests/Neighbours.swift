import Glibc
import HandoffTestSupport
import LinuxSystem
import Paths

/// A TCP listener on the loopback interface, that nobody may reach.
final class LoopbackListener {
  let port: UInt16
  private let descriptor: FileDescriptor

  init() throws {
    let number = try checked("socket") { socket(AF_INET, CInt(SOCK_STREAM.rawValue), 0) }
    descriptor = FileDescriptor(owning: number)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    var size = socklen_t(MemoryLayout<sockaddr_in>.size)
    port = try withUnsafeMutablePointer(to: &address) { pointer throws(SystemError) in
      let generic = UnsafeMutableRawPointer(pointer).assumingMemoryBound(to: sockaddr.self)
      try checked("bind") { bind(number, generic, size) }
      try checked("listen") { listen(number, 1) }
      try checked("getsockname") { getsockname(number, generic, &size) }
      return UInt16(bigEndian: pointer.pointee.sin_port)
    }
  }
}

/// The process is there, and is not only a zombie that nobody has collected.
func isAlive(_ pid: pid_t) -> Bool {
  guard let fields = statusFields(pid) else { return false }
  return fields.first != "Z"
}

/// The processes with a command line that ends so, among what a process has started.
func processes(of commandLine: String, within ancestor: pid_t) throws -> [pid_t] {
  try Directory.entries(of: "/proc").compactMap { pid_t($0.name.lossyText) }.filter { pid in
    guard let file = try? FileDescriptor.open(BytePath("/proc/\(pid)/cmdline"), O_RDONLY),
      let bytes = try? file.readAll(limit: 100_000)
    else { return false }
    return String(decoding: bytes, as: UTF8.self).hasSuffix(commandLine)
      && isDescendant(pid, of: ancestor)
  }
}

private func isDescendant(_ pid: pid_t, of ancestor: pid_t) -> Bool {
  var current = pid
  for _ in 0..<20 {
    if current == ancestor { return true }
    guard let fields = statusFields(current), let parent = pid_t(fields[1]), parent > 0 else {
      return false
    }
    current = parent
  }
  return false
}

/// What /proc/PID/stat says after the name: state, parent and so on.
private func statusFields(_ pid: pid_t) -> [Substring]? {
  guard let file = try? FileDescriptor.open(BytePath("/proc/\(pid)/stat"), O_RDONLY),
    let bytes = try? file.readAll(limit: 4096)
  else { return nil }
  return String(decoding: bytes, as: UTF8.self).split(separator: ")").last?.split(separator: " ")
}
