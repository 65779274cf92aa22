import Glibc
import LinuxSystem
import Paths

/// Holds a scripted receiver until the test lets it go: a FIFO in its work folder, a line for each pass.
struct Gate {
  /// Open for both, so that a line waits in it until a receiver comes; never closed, so that none is
  /// lost when the test has no more use for the gate.
  private let fifo: CInt

  /// What an `exec` receiver runs to be held.
  static let command = "read -r line < $HANDOFF_WORK/gate"

  /// Makes the gate of a destination, whose broker has started.
  init(_ destination: String, _ scene: Scene) throws {
    let path = scene.broker.root.appending("state/work/\(destination)/gate")
    try checked("mkfifo", path) { mkfifo(path.nulTerminated, 0o600) }
    fifo = try checked("open", path) { open(path.nulTerminated, O_RDWR | O_NONBLOCK | O_CLOEXEC) }
  }

  /// Lets one receiver go, which is there or comes later.
  func pass() throws {
    _ = try checked("write") { write(fifo, "\n", 1) }
  }
}
