import Glibc
import HandoffProtocol
import LinuxSystem
import Paths

/// What the broker tells a plugin by its environment.
struct PluginEnvironment {
  let socket: FileDescriptor
  let context: DestinationContext

  /// Reads `HANDOFF_FD`, `HANDOFF_WORK` and `HANDOFF_DESTINATION`.
  ///
  /// - Throws: ``PluginEnvironmentError`` where the program was not started by a broker.
  init() throws {
    let number = try Self.value("HANDOFF_FD")
    guard let descriptor = CInt(number), descriptor > 2 else {
      throw PluginEnvironmentError("HANDOFF_FD is \(number), not the number of a socket")
    }
    // Programs that the author starts must not hold the connection open.
    try checked("fcntl HANDOFF_FD") { fcntl(descriptor, F_SETFD, FD_CLOEXEC) }
    socket = FileDescriptor(owning: descriptor)
    guard let name = DestinationName(try Self.value("HANDOFF_DESTINATION")) else {
      throw PluginEnvironmentError("HANDOFF_DESTINATION is not a configured name")
    }
    let work = try Self.path("HANDOFF_WORK")
    guard work.isAbsolute else { throw PluginEnvironmentError("HANDOFF_WORK is not absolute") }
    context = DestinationContext(name: name, work: work, environment: { environmentValue($0) })
  }

  /// The present moment.
  static func now() -> Timestamp {
    var time = timespec()
    // CLOCK_REALTIME always exists, so the call cannot fail.
    clock_gettime(CLOCK_REALTIME, &time)
    return Timestamp(milliseconds: Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000)
  }

  private static func value(_ name: String) throws -> String {
    guard let text = environmentValue(name) else {
      throw PluginEnvironmentError(
        "\(name) is not set: this program is started by handoff; to try it by hand, "
          + "`handoff plugin test` with its path"
      )
    }
    return text
  }

  private static func path(_ name: String) throws -> BytePath {
    guard let text = getenv(name) else { throw PluginEnvironmentError("\(name) is not set") }
    return BytePath(UnsafeRawBufferPointer(start: text, count: strlen(text)))
  }
}

/// The program was not started as a plugin.
struct PluginEnvironmentError: Error, CustomStringConvertible {
  let description: String

  init(_ description: String) {
    self.description = description
  }
}
