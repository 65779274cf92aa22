import CLinux
import Glibc
import Paths
import Synchronization

/// A child process with a process group of its own, always reaped.
///
/// The group does not outlive its leader: when the leader has ended, whatever is left of the group is
/// killed before the leader's number is given back to the system. What has left the group (setsid(2))
/// is out of reach; a pid namespace ends that too. Letting the last reference go kills the group.
package final class SpawnedProcess: Sendable {
  package let id: Int32
  private let core: ChildCore

  /// One thread for all children, as long as the program: `PR_SET_PDEATHSIG` is bound to it.
  private static let spawner = EventLoop("spawn")
  /// Another one for all that is confined: what it has given up it cannot take back.
  private static let confinedSpawner = EventLoop("spawn.confined")
  private static let confinedMask: UInt32 = 0o022

  /// Starts a process.
  ///
  /// - Throws: ``SystemError`` naming the executable (or the working directory's failure, which
  ///   posix_spawn(3) does not tell apart).
  nonisolated(nonsending) package static func spawn(
    _ command: ProcessCommand
  ) async throws(SystemError) -> SpawnedProcess {
    let thread = command.isConfined ? confinedSpawner : spawner
    let core = try await thread.run { () throws(SystemError) in
      if command.isConfined { try checked("prctl") { clinux_confine_thread(confinedMask) } }
      return try ChildCore(command)
    }
    return SpawnedProcess(core)
  }

  private init(_ core: ChildCore) {
    self.core = core
    id = core.pid
  }

  deinit {
    core.signalGroup(SIGKILL)
  }

  /// How it ended, once it has; nil while it runs.
  package var exitStatus: ExitStatus? { core.exitStatus }

  /// Waits for the end of the process itself, not of what it leaves behind.
  ///
  /// Not cancellable.
  nonisolated(nonsending) package func exit() async -> ExitStatus {
    await withCheckedContinuation { core.whenExited($0) }
  }

  /// Sends a signal to the whole group; does nothing once the leader has ended.
  package func signalGroup(_ signal: CInt) {
    core.signalGroup(signal)
  }

  /// Does something while the process's number is certainly its own; nothing once it has ended.
  package func whileRunning(_ work: () -> Void) {
    core.whileRunning(work)
  }

  /// Ends the whole group and waits for it: SIGTERM, a time to clean up, SIGKILL.
  ///
  /// Not cancellable.
  nonisolated(nonsending) package func terminate(grace: Duration) async -> ExitStatus {
    core.signalGroup(SIGTERM)
    // A stopped process takes the signal only once it runs again.
    core.signalGroup(SIGCONT)
    let core = core
    let kill = EventLoop.process.after(grace) { core.signalGroup(SIGKILL) }
    defer { kill.cancel() }
    return await exit()
  }
}

/// The child as the event loop keeps it until it is reaped.
private final class ChildCore: Sendable {
  private enum State {
    case running([CheckedContinuation<ExitStatus, Never>])
    case ended(ExitStatus)
  }

  let pid: pid_t
  private let descriptor: FileDescriptor
  private let state = Mutex(State.running([]))
  private let registration = Mutex<EventLoop.Registration?>(nil)

  init(_ command: ProcessCommand) throws(SystemError) {
    pid = try Self.start(command)
    let number = clinux_pidfd_open(pid)
    guard number >= 0 else {
      let error = SystemError.last("pidfd_open", command.executable)
      _ = kill(-pid, SIGKILL)
      _ = waitpid(pid, nil, 0)
      throw error
    }
    descriptor = FileDescriptor(owning: number)
    do {
      for limit in command.limits { try Self.apply(limit, to: pid) }
      let wait = try EventLoop.process.register(descriptor, .readable) { _ in self.collect() }
      registration.withLock { $0 = wait }
      if exitStatus != nil { wait.cancel() }
    } catch {
      _ = kill(-pid, SIGKILL)
      _ = waitpid(pid, nil, 0)
      throw error
    }
  }

  var exitStatus: ExitStatus? {
    state.withLock {
      guard case .ended(let status) = $0 else { return nil }
      return status
    }
  }

  func whenExited(_ continuation: CheckedContinuation<ExitStatus, Never>) {
    let ended = state.withLock { state -> ExitStatus? in
      switch state {
      case .running(let waiting):
        state = .running(waiting + [continuation])
        return nil
      case .ended(let status):
        return status
      }
    }
    if let ended { continuation.resume(returning: ended) }
  }

  func signalGroup(_ signal: CInt) {
    // ESRCH cannot be, and EPERM (a set-user-ID program) leaves nothing to do.
    whileRunning { _ = kill(-pid, signal) }
  }

  func whileRunning(_ work: () -> Void) {
    state.withLock { state in
      // Under the lock the leader is not reaped, so the number is still its own.
      if case .running = state { work() }
    }
  }

  private func collect() {
    let waiting = state.withLock {
      state -> ([CheckedContinuation<ExitStatus, Never>], ExitStatus)? in
      guard case .running(let waiting) = state else { return nil }
      _ = kill(-pid, SIGKILL)
      var code: CInt = 0
      var signal: CInt = 0
      let found = clinux_collect(descriptor.rawValue, &code, &signal)
      if found == 0 { return nil }
      // ECHILD: somebody else has reaped it, and its status is lost.
      let status: ExitStatus = found == 1 && signal == 0 ? .exited(code) : .signalled(signal)
      state = .ended(status)
      return (waiting, status)
    }
    guard let (continuations, status) = waiting else { return }
    registration.withLock { $0 }?.cancel()
    for continuation in continuations { continuation.resume(returning: status) }
  }

  private static func start(_ command: ProcessCommand) throws(SystemError) -> pid_t {
    let mappings = command.descriptors.map {
      clinux_mapping(child: $0.key, parent: $0.value.rawValue)
    }
    if mappings.contains(where: { $0.parent < 0 || $0.child < 0 }) {
      throw SystemError(EBADF, "posix_spawn", command.executable)
    }
    let arguments = CStrings(command.arguments)
    let environment = CStrings(command.environment)
    var pid: pid_t = 0
    let error = withExtendedLifetime((arguments, environment, command)) {
      clinux_spawn(
        &pid,
        command.executable.nulTerminated,
        arguments.pointers,
        environment.pointers,
        mappings,
        mappings.count,
        command.workingDirectory?.nulTerminated,
        command.newSession ? 1 : 0
      )
    }
    guard error == 0 else { throw SystemError(error, "posix_spawn", command.executable) }
    return pid
  }

  private static func apply(_ limit: ProcessCommand.Limit, to pid: pid_t) throws(SystemError) {
    let (resource, value) =
      switch limit {
      case .cpuSeconds(let value): (CLINUX_CPU_SECONDS, value)
      case .fileSize(let value): (CLINUX_FILE_SIZE, value)
      case .coreSize(let value): (CLINUX_CORE_SIZE, value)
      case .addressSpace(let value): (CLINUX_ADDRESS_SPACE, value)
      case .openFiles(let value): (CLINUX_OPEN_FILES, value)
      case .processes(let value): (CLINUX_PROCESSES, value)
      }
    // ESRCH cannot be: the child is not reaped yet, even if it has ended.
    try checked("prlimit") { clinux_limit(pid, resource, value) }
  }
}

/// A nil-terminated array of C strings.
private final class CStrings {
  let pointers: [UnsafeMutablePointer<CChar>?]

  init(_ strings: [BytePath]) {
    pointers =
      strings.map { string in
        let characters = string.nulTerminated
        let copy = UnsafeMutablePointer<CChar>.allocate(capacity: characters.count)
        copy.initialize(from: characters, count: characters.count)
        return copy
      } + [nil]
  }

  deinit {
    for pointer in pointers { pointer?.deallocate() }
  }
}
