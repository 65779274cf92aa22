import Glibc
import HandoffTestSupport
import LinuxSystem
import Paths
import Testing

@Suite("A spawned process", .timeLimit(.minutes(1)))
struct SpawnedProcessTests {
  private func shell(_ script: String, _ change: (inout ProcessCommand) -> Void = { _ in })
    async throws -> SpawnedProcess
  {
    var command = ProcessCommand("/bin/sh", arguments: ["-c", BytePath(script)])
    change(&command)
    return try await SpawnedProcess.spawn(command)
  }

  private func output(
    _ script: String,
    _ change: (inout ProcessCommand) -> Void = { _ in }
  ) async throws -> String {
    let (ours, theirs) = try UnixSocket.pair()
    let process = try await shell(script) { command in
      command.descriptors[1] = theirs
      change(&command)
    }
    try theirs.close()
    let bytes = try await BlockingThread("read").run { try ours.readAll(limit: 100_000) }
    _ = await process.exit()
    return String(decoding: bytes, as: UTF8.self)
  }

  @Test("ends with its exit code or its signal")
  func endings() async throws {
    #expect(try await shell("exit 7").exit() == .exited(7))
    #expect(try await shell("kill -USR1 $$").exit() == .signalled(SIGUSR1))
    let process = try await shell("exit 3")
    let (first, second) = await (process.exit(), process.exit())
    #expect(first == second)
    #expect(process.exitStatus == .exited(3))
  }

  @Test("that cannot start names the executable")
  func missing() async throws {
    await #expect(throws: SystemError(ENOENT, "posix_spawn", "/no/such/program")) {
      _ = try await SpawnedProcess.spawn(ProcessCommand("/no/such/program"))
    }
  }

  @Test("has only the descriptors, environment, folder and group that it was given")
  func surroundings() async throws {
    let leak = open("/dev/null", O_RDONLY)  // not close-on-exec
    defer { close(leak) }
    let listing = try await output("ls /proc/self/fd | tr '\\n' ' '")
    // 3 is ls's own, for the folder that it lists.
    #expect(listing == "0 1 2 3 ")
    #expect(try await output("readlink /proc/self/fd/0") == "/dev/null\n")
    let variables = try await output("/usr/bin/env") { $0.environment = ["A=b c"] }
    #expect(variables.split(separator: "\n").contains("A=b c"))
    #expect(!variables.contains("HOME="))
    #expect(try await output("pwd -P") { $0.workingDirectory = "/usr" } == "/usr\n")
    #expect(
      try await output("ulimit -n; ulimit -c") { $0.limits = [.openFiles(77), .coreSize(0)] }
        .hasSuffix("0\n")
    )
    let group = try await output("cut -d' ' -f1,5 /proc/self/stat; echo $$")
    let numbers = group.split(whereSeparator: { " \n".contains($0) })
    #expect(numbers[1] == numbers[2], "the shell leads the group of what it starts")
  }

  @Test("gets descriptors under each other's numbers without mixing them up")
  func crossedDescriptors() async throws {
    let folder = try TemporaryFolder()
    let one = try FileDescriptor.open(folder.write("one", to: "one"), O_RDONLY)
    let two = try FileDescriptor.open(folder.write("two", to: "two"), O_RDONLY)
    let text = try await output("cat /dev/fd/\(two.rawValue) /dev/fd/\(one.rawValue)") { command in
      command.descriptors[two.rawValue] = one
      command.descriptors[one.rawValue] = two
    }
    #expect(text == "onetwo")
  }

  @Test("is over when it has ended, though a grandchild still holds its output")
  func grandchildHoldsPipe() async throws {
    let (ours, theirs) = try UnixSocket.pair()
    // The substitution ends when the grandchild has its own session and lets go of that pipe.
    let script = """
      exec 3>&1
      pid=$(setsid -f sh -c 'echo $$; exec >&3; exec sleep 600')
      echo $pid; exit 4
      """
    let process = try await shell(script) {
      $0.descriptors[1] = theirs
    }
    try theirs.close()
    #expect(await process.exit() == .exited(4))
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 64, alignment: 1)
    defer { buffer.deallocate() }
    let count = try ours.read(into: buffer)
    let text = String(decoding: buffer[..<count], as: UTF8.self)
    // It has a session of its own, so the group's end did not reach it.
    let grandchild = try #require(pid_t(text.split(separator: "\n").first ?? ""))
    #expect(kill(grandchild, SIGKILL) == 0)
  }

  @Test("takes the rest of its group with it")
  func groupEndsWithLeader() async throws {
    // The end of the socket tells that the last holder, the grandchild, is gone.
    let text = try await output("sleep 600 & exec echo started")
    #expect(text == "started\n")
  }

  @Test("that ignores SIGTERM is killed with its group after the grace, and leaves no zombie")
  func teardown() async throws {
    let (ours, theirs) = try UnixSocket.pair()
    let process = try await shell("trap '' TERM; sleep 600 & echo ready; wait; sleep 600") {
      $0.descriptors[1] = theirs
    }
    try theirs.close()
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 64, alignment: 1)
    defer { buffer.deallocate() }
    #expect(try ours.read(into: buffer) == 6)
    #expect(await process.terminate(grace: .milliseconds(50)) == .signalled(SIGKILL))
    #expect(try ours.read(into: buffer) == 0)
    #expect(try await poll { try zombies().isEmpty ? true : nil } == true)
  }

  @Test("ends at SIGTERM, stopped or not, before the grace is over")
  func gentleTeardown() async throws {
    let process = try await shell("sleep 600")
    process.signalGroup(SIGSTOP)
    #expect(await process.terminate(grace: .seconds(50)) == .signalled(SIGTERM))
  }

  @Test("that nobody holds any more is killed and reaped")
  func abandoned() async throws {
    let id = try await shell("sleep 600").id
    #expect(try await poll { kill(id, 0) == -1 && errno == ESRCH ? true : nil } == true)
  }

  @Test("leaves no descriptor and no zombie behind, two hundred times over")
  func manyTimes() async throws {
    _ = try await shell("exit 0").exit()
    let before = try Directory.entries(of: "/proc/self/fd").count
    for _ in 0..<20 {
      try await withThrowingTaskGroup { group in
        for _ in 0..<10 { group.addTask { _ = try await self.shell("exit 0").exit() } }
        try await group.waitForAll()
      }
    }
    // Other tests of this process open descriptors too; two hundred would show.
    let isTidy = try await poll {
      try Directory.entries(of: "/proc/self/fd").count < before + 100 ? true : nil
    }
    #expect(isTidy == true)
    #expect(try await poll { try zombies().isEmpty ? true : nil } == true)
  }
}
