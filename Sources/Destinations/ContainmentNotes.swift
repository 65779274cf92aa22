import Glibc
import HandoffProtocol
import LinuxSystem
import Paths
import Synchronization

/// What bubblewrap tells of a contained command on its status descriptor; see bwrap(1),
/// `--json-status-fd`.
final class ContainmentNotes: Sendable {
  private struct State {
    var framer = LineFramer(limit: 65_536)
    var inner: pid_t?
    var hasRun = false
  }

  private let state = Mutex(State())

  /// The command was run. Bubblewrap tells its exit code only then, and not if it failed to prepare
  /// what the command is to see.
  var hasRun: Bool { state.withLock { $0.hasRun } }

  /// The namespace's first process, as long as it is a child of bubblewrap's.
  ///
  /// Its number is checked because bubblewrap, not the broker, reaps it.
  func inner(childOf bubblewrap: pid_t) -> pid_t? {
    guard let inner = state.withLock({ $0.inner }) else { return nil }
    do {
      let file = try FileDescriptor.open(BytePath("/proc/\(inner)/stat"), O_RDONLY)
      let text = String(decoding: try file.readAll(limit: 4096), as: UTF8.self)
      // The name in parentheses may hold anything, so what counts begins after the last one.
      let fields = text.split(separator: ")").last?.split(separator: " ") ?? []
      return fields.count > 1 && pid_t(fields[1]) == bubblewrap ? inner : nil
    } catch {
      // It has ended, and its number is free.
      return nil
    }
  }

  func take(_ bytes: [UInt8]) {
    state.withLock { state in
      do {
        for line in try state.framer.append(bytes) {
          let note = try WireCoder.decode(JSONValue.self, from: line)
          if let number = note["child-pid"]?.integer { state.inner = pid_t(number) }
          if note["exit-code"] != nil { state.hasRun = true }
        }
      } catch {
        // Not a note that this code knows: the ladder then ends with bubblewrap itself.
        state.inner = nil
      }
    }
  }
}
