import CLinux
import Glibc
package import Paths

/// Stream sockets between processes of this machine; see unix(7).
///
/// No call raises SIGPIPE.
package enum UnixSocket {
  /// Two sockets that are connected to each other.
  package static func pair() throws(SystemError) -> (FileDescriptor, FileDescriptor) {
    var numbers: [CInt] = [-1, -1]
    try checked("socketpair") { clinux_socket_pair(&numbers) }
    return (FileDescriptor(owning: numbers[0]), FileDescriptor(owning: numbers[1]))
  }

  /// Takes a name for as long as the descriptor is open, that is at most as long as the process lives.
  ///
  /// The name is an abstract one of unix(7): no file, and one of the network namespace.
  /// - Throws: `EADDRINUSE` while it is taken, also by this process.
  package static func claim(_ name: String) throws(SystemError) -> FileDescriptor {
    let socket = FileDescriptor(owning: try checked("socket") { clinux_socket() })
    try checked("bind") { clinux_bind_abstract(socket.rawValue, name) }
    return socket
  }

  /// Makes a socket file and listens on it.
  ///
  /// The file has its permissions from the first moment on. One that nobody listens on any more is
  /// replaced; `EADDRINUSE` means that somebody does.
  package static func listen(
    _ path: BytePath,
    permissions: UInt32 = 0o600
  ) throws(SystemError) -> FileDescriptor {
    let short = try ShortAddress(path)
    do {
      return try bind(short, permissions, path)
    } catch  where error.errno == EADDRINUSE {
      do {
        _ = try connect(path)
      } catch  where error.errno == ECONNREFUSED && isSocket(path) {
        try checked("unlink", path) { unlink(path.nulTerminated) }
        return try bind(short, permissions, path)
      }
      throw error
    }
  }

  /// A connection to a file of another kind is refused just the same.
  private static func isSocket(_ path: BytePath) -> Bool {
    var status = stat()
    return lstat(path.nulTerminated, &status) == 0 && status.st_mode & S_IFMT == S_IFSOCK
  }

  private static func bind(
    _ address: borrowing ShortAddress,
    _ permissions: UInt32,
    _ path: BytePath
  ) throws(SystemError) -> FileDescriptor {
    let socket = FileDescriptor(owning: try checked("socket") { clinux_socket() })
    // Linux makes the file with the mode that the socket has, so it is never open to others.
    try checked("fchmod", path) { fchmod(socket.rawValue, permissions) }
    try checked("bind", path) { clinux_bind(socket.rawValue, address.text.nulTerminated) }
    try checked("chmod", path) { chmod(path.nulTerminated, permissions) }
    try checked("listen", path) { Glibc.listen(socket.rawValue, 128) }
    return socket
  }

  /// Waits for the next connection.
  ///
  /// - Throws: `CancellationError`, or ``SystemError``.
  nonisolated(nonsending) package static func accept(
    _ listener: FileDescriptor
  ) async throws -> FileDescriptor {
    try checked("fcntl") { clinux_set_nonblocking(listener.rawValue) }
    while true {
      let number = clinux_accept(listener.rawValue)
      if number >= 0 { return FileDescriptor(owning: number) }
      let error = SystemError.last("accept")
      switch error.errno {
      case EAGAIN: try await EventLoop.process.readable(listener)
      // The peer was gone before it was taken.
      case EINTR, ECONNABORTED: continue
      // Nothing is free now: the connection waits in the queue until something is.
      case EMFILE, ENFILE, ENOMEM, ENOBUFS: try await Task.sleep(for: .milliseconds(100))
      default: throw error
      }
    }
  }

  /// Connects to a socket file; `ECONNREFUSED` means that nobody listens.
  package static func connect(_ path: BytePath) throws(SystemError) -> FileDescriptor {
    let address = try ShortAddress(path)
    let socket = FileDescriptor(owning: try checked("socket") { clinux_socket() })
    try checked("connect", path) {
      clinux_connect(socket.rawValue, address.text.nulTerminated)
    }
    return socket
  }

  /// Sends bytes, and a descriptor with the first of them; returns how many were sent.
  ///
  /// - Throws: `EAGAIN` when there is no room and it may not wait; `EPIPE` when the peer is gone.
  package static func send(
    _ bytes: ArraySlice<UInt8>,
    over socket: FileDescriptor,
    passing descriptor: FileDescriptor? = nil,
    waiting: Bool = true
  ) throws(SystemError) -> Int {
    try checked("sendmsg") {
      bytes.withUnsafeBytes {
        clinux_send(
          socket.rawValue,
          $0.baseAddress,
          $0.count,
          descriptor?.rawValue ?? -1,
          waiting ? 1 : 0
        )
      }
    }
  }

  /// The user id of the process at the other end, as it was when it connected.
  ///
  /// See `SO_PEERCRED` in unix(7).
  package static func peerUser(_ socket: FileDescriptor) throws(SystemError) -> UInt32 {
    var user: UInt32 = 0
    try checked("getsockopt") { clinux_peer_user(socket.rawValue, &user) }
    return user
  }

  /// Ends both directions: the peer reads what was sent and then the end, and waits here are over.
  package static func shutdown(_ socket: FileDescriptor) {
    // ENOTCONN: the peer was faster.
    _ = Glibc.shutdown(socket.rawValue, CInt(SHUT_RDWR))
  }

  /// Receives bytes, and a descriptor if one was passed; 0 bytes mean that the peer has ended.
  ///
  /// - Throws: `EAGAIN` when there is nothing and it may not wait.
  package static func receive(
    into buffer: UnsafeMutableRawBufferPointer,
    from socket: FileDescriptor,
    waiting: Bool = true
  ) throws(SystemError) -> (count: Int, descriptor: FileDescriptor?) {
    var number: CInt = -1
    let count = try checked("recvmsg") {
      clinux_receive(socket.rawValue, buffer.baseAddress, buffer.count, &number, waiting ? 1 : 0)
    }
    return (count, number >= 0 ? FileDescriptor(owning: number) : nil)
  }
}

/// A path that fits into the 107 bytes of a socket address, by way of its open folder.
private struct ShortAddress: ~Copyable {
  let text: BytePath
  private let folder: FileDescriptor?

  init(_ path: BytePath) throws(SystemError) {
    if path.bytes.count <= 107 {
      text = path
      folder = nil
      return
    }
    let number = try checked("open", path.parent) {
      clinux_open_folder_path(path.parent.nulTerminated)
    }
    let folder = FileDescriptor(owning: number)
    text = BytePath("/proc/self/fd/\(folder.rawValue)").appending(path.lastComponent)
    self.folder = folder
  }
}
