import Glibc
package import HandoffCore
import HandoffLog
import LinuxSystem
import MediaProbe
package import Paths

extension Programs {
  /// What the probe says of a file, as for one that is imported.
  ///
  /// - Throws: `SystemError` where it cannot be opened.
  package func verdict(of path: BytePath) async throws -> ProbeVerdict {
    let file = try FileDescriptor.open(path, O_RDONLY)
    let size = try file.status().size
    let probe = MediaProbe(executable: self.probe, workers: 1, logger: .silent)
    let verdict = await probe.verdict(for: file, size: size)
    await probe.shutdown()
    return verdict
  }
}
