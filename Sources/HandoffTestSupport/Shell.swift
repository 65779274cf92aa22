import Glibc
import LinuxSystem

/// Runs a line with `sh -c`, away from the cooperative pool, and returns its wait status (0: success).
///
/// For tools that make fixtures (mount, mkfs, ffmpeg); never with a name that was not made by the test.
nonisolated(nonsending) package func shell(_ line: String) async -> CInt {
  await BlockingThread("test.shell").run { () throws(Never) in system(line) }
}
