import Glibc
import HandoffTestSupport
import LinuxSystem
import Paths
import Testing

/// File systems that a test mounts, and that are unmounted after it, whatever happens.
struct Mounts {
  /// False, and said so, where nothing may be mounted.
  static func areAllowed(for test: String) async -> Bool {
    // A mount that is made and undone shows more than the user's number.
    let line =
      "d=$(mktemp -d); mount -t tmpfs none $d 2> /dev/null && umount $d; s=$?; rmdir $d; exit $s"
    let isAllowed = await shell(line) == 0
    if !isAllowed { print("skipped, nothing may be mounted here: \(test)") }
    return isAllowed
  }

  /// Mounts with lines of `mount` arguments and runs a test; paths are relative to the scene's folder.
  ///
  /// The broker is ended before the file systems go.
  static func run(
    _ scene: Scene,
    _ mounts: [(arguments: String, target: String)],
    _ body: nonisolated(nonsending) () async throws -> Void
  ) async throws {
    var mounted: [String] = []
    func undo() async {
      await scene.broker.end(SIGKILL)
      for target in mounted.reversed() {
        #expect(await shell("cd '\(scene.broker.root.lossyText)' && umount '\(target)'") == 0)
      }
    }
    do {
      for mount in mounts {
        try await scene.sh("mkdir -p \(mount.target); mount \(mount.arguments) \(mount.target)")
        mounted.append(mount.target)
      }
      try await body()
    } catch {
      await undo()
      throw error
    }
    await undo()
  }
}
