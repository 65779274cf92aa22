import Glibc
import HandoffTestSupport
import LinuxSystem
import Paths

/// What a process holds of memory and descriptors.
struct Footprint {
  /// Bytes.
  let resident: Int
  let descriptors: Int
}

extension RunningBroker {
  /// The broker's, now.
  var footprint: Footprint {
    get throws {
      guard let id = processID else { throw TestSupportError("no broker runs") }
      let vitals = try BrokerVitals(of: id)
      return Footprint(resident: vitals.memory, descriptors: vitals.descriptors)
    }
  }
}

/// A TCP port of this host that counts on nobody's coming.
final class LoopbackListener {
  private let socket: CInt
  let port: UInt16

  init() throws {
    let socket = try checked("socket") {
      Glibc.socket(AF_INET, CInt(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue), 0)
    }
    self.socket = socket
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    try withUnsafeMutablePointer(to: &address) { pointer in
      try pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
        _ = try checked("bind") { bind(socket, pointer, length) }
        _ = try checked("listen") { listen(socket, 8) }
        _ = try checked("getsockname") { getsockname(socket, pointer, &length) }
      }
    }
    port = UInt16(bigEndian: address.sin_port)
  }

  /// Somebody has connected.
  var wasAsked: Bool {
    get throws {
      let connection = accept(socket, nil, nil)
      if connection < 0, errno == EAGAIN { return false }
      close(connection)
      return true
    }
  }

  deinit {
    close(socket)
  }
}
