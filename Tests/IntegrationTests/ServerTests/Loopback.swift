import Glibc
import LinuxSystem
import Paths

/// Ports of 127.0.0.1.
enum Loopback {
  /// A port that nobody uses at this moment.
  static func freePort() throws -> UInt16 {
    let socket = FileDescriptor(owning: Glibc.socket(AF_INET, CInt(SOCK_STREAM.rawValue), 0))
    var address = address(port: 0)
    let size = socklen_t(MemoryLayout<sockaddr_in>.size)
    let status = withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(socket.rawValue, $0, size) }
    }
    guard status == 0 else { throw SystemError.last("bind") }
    var length = size
    withUnsafeMutablePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        _ = getsockname(socket.rawValue, $0, &length)
      }
    }
    return UInt16(bigEndian: address.sin_port)
  }

  /// Somebody listens there.
  static func accepts(_ port: UInt16) -> Bool {
    let socket = FileDescriptor(owning: Glibc.socket(AF_INET, CInt(SOCK_STREAM.rawValue), 0))
    var address = address(port: port)
    return withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        connect(socket.rawValue, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
      }
    }
  }

  private static func address(port: UInt16) -> sockaddr_in {
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = in_addr_t(0x7F00_0001).bigEndian
    return address
  }

  /// Writes the `sshd_config` of a server on a port that has `host_key` and `authorized_keys` beside it.
  ///
  /// - Returns: its path.
  static func writeSSHDConfiguration(
    _ scene: Scene,
    _ port: UInt16,
    _ more: String = ""
  ) throws -> BytePath {
    let root = scene.broker.root.lossyText
    let path = scene.broker.root.appending("sshd_config")
    let text = """
      Port \(port)
      ListenAddress 127.0.0.1
      HostKey \(root)/host_key
      PidFile \(root)/sshd.pid
      AuthorizedKeysFile \(root)/authorized_keys
      StrictModes no
      UsePAM no
      PasswordAuthentication no
      PermitRootLogin yes
      Subsystem sftp internal-sftp
      \(more)

      """
    try DurableFile.write(Array(text.utf8), to: path)
    return path
  }
}
