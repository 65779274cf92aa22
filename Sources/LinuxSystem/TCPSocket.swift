import Glibc

/// Stream sockets over the internet protocols; see tcp(7).
///
/// A host that is a name is asked for from the system's resolver, which can block.
package enum TCPSocket {
  /// Listens, for a caller that does not wait in accept(2).
  ///
  /// - Parameters:
  ///   - host: a name or an address, an IPv6 address without its brackets.
  ///   - port: 0 for one of the kernel's choice.
  /// - Returns: the socket and its port.
  /// - Throws: `EADDRINUSE` where somebody else listens there.
  package static func listen(
    host: String,
    port: UInt16
  ) throws(SystemError) -> (FileDescriptor, port: UInt16) {
    let address = try SocketAddress(host, port)
    let socket = try open(address, flags: CInt(bitPattern: SOCK_NONBLOCK.rawValue))
    var yes: CInt = 1
    // Connections of the program before this one may still be in TIME_WAIT.
    try checked("setsockopt") {
      setsockopt(
        socket.rawValue,
        SOL_SOCKET,
        SO_REUSEADDR,
        &yes,
        socklen_t(MemoryLayout<CInt>.size)
      )
    }
    try checked("bind") { address.withPointer { bind(socket.rawValue, $0, $1) } }
    try checked("listen") { Glibc.listen(socket.rawValue, 512) }
    return (socket, port: try SocketAddress(of: socket).port)
  }

  /// Connects; `ECONNREFUSED` means that nobody listens.
  package static func connect(host: String, port: UInt16) throws(SystemError) -> FileDescriptor {
    let address = try SocketAddress(host, port)
    let socket = try open(address, flags: 0)
    try checked("connect") { address.withPointer { Glibc.connect(socket.rawValue, $0, $1) } }
    return socket
  }

  private static func open(
    _ address: SocketAddress,
    flags: CInt
  ) throws(SystemError) -> FileDescriptor {
    let kind = CInt(bitPattern: SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue) | flags
    return FileDescriptor(owning: try checked("socket") { socket(address.family, kind, 0) })
  }
}

/// An address of either internet protocol, with its port.
private struct SocketAddress {
  private var storage = sockaddr_storage()
  private var length = socklen_t(MemoryLayout<sockaddr_storage>.size)

  /// The first that the resolver knows.
  init(_ host: String, _ port: UInt16) throws(SystemError) {
    var hints = addrinfo()
    hints.ai_flags = AI_NUMERICSERV
    hints.ai_socktype = CInt(bitPattern: SOCK_STREAM.rawValue)
    var found: UnsafeMutablePointer<addrinfo>?
    let status = getaddrinfo(host, String(port), &hints, &found)
    defer { if let found { freeaddrinfo(found) } }
    guard status == 0, let first = found?.pointee, let address = first.ai_addr else {
      throw SystemError(status == EAI_SYSTEM ? errno : EADDRNOTAVAIL, "getaddrinfo")
    }
    length = first.ai_addrlen
    withUnsafeMutableBytes(of: &storage) { bytes in
      bytes.copyMemory(from: UnsafeRawBufferPointer(start: address, count: Int(first.ai_addrlen)))
    }
  }

  /// The one that a socket is bound to.
  init(of socket: FileDescriptor) throws(SystemError) {
    var length = self.length
    var storage = self.storage
    try checked("getsockname") {
      withUnsafeMutablePointer(to: &storage) { pointer in
        pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
          getsockname(socket.rawValue, $0, &length)
        }
      }
    }
    self.length = length
    self.storage = storage
  }

  var family: CInt { CInt(storage.ss_family) }

  /// It stands at the same place in both families.
  var port: UInt16 {
    withUnsafeBytes(of: storage) { bytes in
      UInt16(bigEndian: bytes.loadUnaligned(fromByteOffset: 2, as: UInt16.self))
    }
  }

  func withPointer(_ call: (UnsafePointer<sockaddr>, socklen_t) -> CInt) -> CInt {
    withUnsafePointer(to: storage) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { call($0, length) }
    }
  }
}
