import CLinux

extension FileDescriptor {
  /// Both ends of a new pipe, close-on-exec; see pipe(2).
  package static func pipe() throws(SystemError) -> (
    reading: FileDescriptor, writing: FileDescriptor
  ) {
    var numbers: [CInt] = [-1, -1]
    try checked("pipe2") { clinux_pipe(&numbers) }
    return (FileDescriptor(owning: numbers[0]), FileDescriptor(owning: numbers[1]))
  }

  /// Reads and writes of this open file never wait, in any process that shares it.
  package func setNonblocking() throws(SystemError) {
    try checked("fcntl") { clinux_set_nonblocking(rawValue) }
  }

  /// How many bytes wait in a pipe or socket to be read.
  package func unreadCount() throws(SystemError) -> Int {
    var count: CInt = 0
    try checked("ioctl FIONREAD") { clinux_unread(rawValue, &count) }
    return Int(count)
  }
}
