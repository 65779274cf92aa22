import Glibc
import HandoffTestSupport
import LinuxSystem
import Paths
import Testing

/// Takes a lease as soon as it is given: a child that another test starts holds, for the moment until
/// its exec, everything that is open for writing here.
private func takeLease(
  _ keeper: LeaseKeeper,
  _ file: FileDescriptor,
  onBreak: @escaping @Sendable () -> Void = {}
) throws -> FileLease {
  while true {
    switch keeper.attempt(file, onBreak: onBreak) {
    case .held(let lease): return lease
    case .openForWriting: sched_yield()
    case .unavailable(let error): throw error
    }
  }
}

@Suite("A file lease", .timeLimit(.minutes(1)))
struct FileLeaseTests {
  @Test("is refused while somebody has the file open for writing")
  func refused() async throws {
    let folder = try TemporaryFolder()
    let path = try folder.write("text", to: "file")
    let keeper = try await LeaseKeeper()
    let file = try FileDescriptor.open(path, O_RDONLY)
    let writer = try FileDescriptor.open(path, O_WRONLY)
    guard case .openForWriting = keeper.attempt(file) else {
      Issue.record("was given")
      return
    }
    try writer.close()
    let lease = try takeLease(keeper, file)
    #expect(!lease.isBroken)
  }

  @Test("is broken at once by a writer, time after time, and the writer does not wait")
  func broken() async throws {
    // As the broker does it: ignored elsewhere, and still heard.
    try SignalMask.blockAtStart()
    let folder = try TemporaryFolder()
    let path = try folder.write("text", to: "file")
    let keeper = try await LeaseKeeper()
    let file = try FileDescriptor.open(path, O_RDONLY)
    for _ in 0..<20 {
      let (breaks, continuation) = AsyncStream.makeStream(of: Void.self)
      let lease = try takeLease(keeper, file) { continuation.finish() }
      // Would wait for lease-break-time, 45 s, if nobody gave the lease back.
      let writer = try await BlockingThread("writer").run {
        try FileDescriptor.open(path, O_WRONLY)
      }
      for await _ in breaks {}
      #expect(lease.isBroken)
      try writer.close()
    }
  }

  @Test("is given back by release and by the last reference, without a signal")
  func released() async throws {
    let folder = try TemporaryFolder()
    let path = try folder.write("text", to: "file")
    let keeper = try await LeaseKeeper()
    let file = try FileDescriptor.open(path, O_RDONLY)
    let lease = try takeLease(keeper, file) { Issue.record("was told to be broken") }
    lease.release()
    try FileDescriptor.open(path, O_WRONLY | O_NONBLOCK).close()
    #expect(!lease.isBroken)
    do { _ = try takeLease(keeper, file) { Issue.record("was told to be broken") } }
    try FileDescriptor.open(path, O_WRONLY | O_NONBLOCK).close()
  }

  @Test("tells of each of five hundred files at once")
  func many() async throws {
    let folder = try TemporaryFolder()
    let keeper = try await LeaseKeeper()
    let (breaks, continuation) = AsyncStream.makeStream(of: Int.self)
    var leases: [FileLease] = []
    for number in 0..<500 {
      let path = try folder.write("text", to: BytePath("\(number)"))
      let file = try FileDescriptor.open(path, O_RDONLY)
      leases.append(try takeLease(keeper, file) { continuation.yield(number) })
    }
    for number in 0..<500 {
      let path = folder.path.appending("\(number)")
      // EWOULDBLOCK: the break has begun, and nobody waits for it.
      #expect(throws: SystemError(EAGAIN, "open", path)) {
        try FileDescriptor.open(path, O_WRONLY | O_NONBLOCK)
      }
    }
    var seen: Set<Int> = []
    for await number in breaks {
      seen.insert(number)
      if seen.count == 500 { break }
    }
    #expect(leases.allSatisfy { $0.isBroken })
  }

  @Test("is unavailable for what cannot have one")
  func unavailable() async throws {
    let keeper = try await LeaseKeeper()
    let device = try FileDescriptor.open("/dev/null", O_RDONLY)
    guard case .unavailable(let error) = keeper.attempt(device) else {
      Issue.record("was given")
      return
    }
    #expect(error.errno == EINVAL)
  }
}
