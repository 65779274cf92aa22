import Glibc
import HandoffProtocol
import LinuxSystem

extension Destination {
  /// Serves the broker that started this program, until it says to end or goes away.
  @concurrent
  public static func main() async {
    // A reader of the log that goes away must not end the work.
    signal(SIGPIPE, SIG_IGN)
    do {
      let place = try PluginEnvironment()
      let session = PluginSession<Self>(context: place.context, now: PluginEnvironment.now)
      try await session.serve(place.socket)
    } catch {
      ProcessLog.write("\(descriptor.name): \(error)")
      exit(1)
    }
  }
}
