import FoundationEssentials
import Glibc
import HandoffProtocol
import LinuxSystem

/// Serves a broker over the socket at descriptor 3, one file at a time, until the broker is gone.
///
/// A request is the file's size in decimal with a line feed, and its open descriptor; the answer is one
/// line of JSON, a `ProbeVerdict`. No path is ever told, and no descriptor kept after the answer.
enum Worker {
  /// Processor time for one file, in seconds.
  ///
  /// A file that takes more ends this process (SIGPROF).
  private static let cpuLimit = 15

  static func run() throws {
    let socket = FileDescriptor(owning: 3)
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 64, alignment: 1)
    defer { buffer.deallocate() }
    while true {
      let (count, file) = try UnixSocket.receive(into: buffer, from: socket)
      if count == 0 { return }
      guard let file else { throw SystemError(EBADMSG, "recvmsg") }
      limitTime(to: cpuLimit)
      let verdict = Inspection.verdict(file, expected: size(buffer[..<count]))
      limitTime(to: 0)
      try answer(try WireCoder.encode(verdict) + [UInt8(ascii: "\n")], over: socket)
    }
  }

  private static func size(_ bytes: Slice<UnsafeMutableRawBufferPointer>) -> Int64? {
    Int64(String(decoding: bytes.prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self))
  }

  private static func answer(_ line: [UInt8], over socket: FileDescriptor) throws(SystemError) {
    var rest = line[...]
    while !rest.isEmpty { rest = rest.dropFirst(try UnixSocket.send(rest, over: socket)) }
  }

  /// Starts the clock that kills this process; 0 stops it.
  private static func limitTime(to seconds: Int) {
    var timer = itimerval()
    timer.it_value.tv_sec = seconds
    // It fails for invalid numbers only.
    setitimer(__itimer_which_t(ITIMER_PROF.rawValue), &timer, nil)
  }
}
