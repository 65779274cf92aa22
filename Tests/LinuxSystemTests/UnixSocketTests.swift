import Glibc
import HandoffTestSupport
import LinuxSystem
import Paths
import Testing

@Suite("A Unix socket", .timeLimit(.minutes(1)))
struct UnixSocketTests {
  @Test("listens with mode 0600, accepts, and passes a descriptor with bytes")
  func listenAndPass() async throws {
    let folder = try TemporaryFolder()
    let path = folder.path.appending("socket")
    let listener = try UnixSocket.listen(path)
    #expect(try FileStatus.of(path)?.permissions == 0o600)
    async let accepted = UnixSocket.accept(listener)
    let client = try UnixSocket.connect(path)
    let server = try await accepted
    let file = try FileDescriptor.open(folder.write("passed", to: "file"), O_RDONLY)
    #expect(try UnixSocket.send([1, 2, 3], over: client, passing: file) == 3)
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 16, alignment: 1)
    defer { buffer.deallocate() }
    let (count, descriptor) = try UnixSocket.receive(into: buffer, from: server)
    #expect(count == 3)
    let passed = try #require(descriptor)
    #expect(fcntl(passed.rawValue, F_GETFD) == FD_CLOEXEC)
    #expect(try passed.readAll(limit: 100) == Array("passed".utf8))
  }

  @Test("replaces a file that nobody listens on, and no other")
  func staleFile() async throws {
    let folder = try TemporaryFolder()
    let path = folder.path.appending("socket")
    try UnixSocket.listen(path).close()
    // A child that another test starts holds the closed listener for the moment until its exec.
    let replacement = try await poll { try? UnixSocket.listen(path) }
    let listener = try #require(replacement)
    #expect(throws: SystemError(EADDRINUSE, "bind", path)) { try UnixSocket.listen(path) }
    try listener.close()
    let file = try folder.write("mine", to: "file")
    #expect(throws: SystemError.self) { try UnixSocket.listen(file) }
    #expect(try FileStatus.of(file)?.kind == .regular)
  }

  @Test("can have a path longer than a socket address")
  func longPath() async throws {
    let folder = try TemporaryFolder()
    let deep = folder.path.appending(String(repeating: "d", count: 120))
    try Directory.create(deep)
    let path = deep.appending("socket")
    let listener = try UnixSocket.listen(path)
    async let accepted = UnixSocket.accept(listener)
    _ = try UnixSocket.connect(path)
    _ = try await accepted
  }

  @Test("answers EPIPE, and no signal, when the peer is gone")
  func brokenPipe() throws {
    let (one, other) = try UnixSocket.pair()
    try other.close()
    #expect(throws: SystemError(EPIPE, "sendmsg")) { try UnixSocket.send([1], over: one) }
  }

  @Test("whose accept is cancelled throws CancellationError")
  func cancelledAccept() async throws {
    let folder = try TemporaryFolder()
    let listener = try UnixSocket.listen(folder.path.appending("socket"))
    let task = Task { try await UnixSocket.accept(listener) }
    task.cancel()
    await #expect(throws: CancellationError.self) { _ = try await task.value }
  }
}
