import Glibc
import HandoffTestSupport
import LinuxSystem
import Paths

/// Mounts that a test makes, and takes away at its end.
///
/// Only root may mount, and not in every container: then ``isPossible()`` is false and the test skips.
enum Mounts {
  nonisolated(nonsending) static func isPossible(_ reason: String) async -> Bool {
    guard await shell("unshare --mount mount -t tmpfs none /mnt 2>/dev/null") == 0 else {
      print("skipped: \(reason): nothing can be mounted here")
      return false
    }
    return true
  }

  nonisolated(nonsending) static func fuseIsPossible() async -> Bool {
    guard await shell("command -v bindfs >/dev/null && test -w /dev/fuse") == 0 else {
      print("skipped: bindfs or /dev/fuse is missing")
      return false
    }
    return await isPossible("a FUSE file system is needed")
  }

  /// The other side of a FUSE file system at `place`.
  nonisolated(nonsending) static func fuse(_ under: BytePath, at place: BytePath) async throws {
    try await run("bindfs --no-allow-other \(under.lossyText) \(place.lossyText)")
  }

  nonisolated(nonsending) static func tmpfs(at place: BytePath) async throws {
    try await run("mount -t tmpfs none \(place.lossyText)")
  }

  /// A file with an ext4 file system in it, as a block device that keeps its name over mounts.
  nonisolated(nonsending) static func disk(_ image: BytePath) async throws -> String {
    let name = image.lossyText
    try await run("truncate -s 16M \(name) && mkfs.ext4 -q -F \(name)")
    try await run("losetup --find --show \(name) > \(name).device")
    let device = try FileDescriptor.open(image.addingSuffix(".device"), O_RDONLY)
    return String(decoding: try device.readAll(limit: 256), as: UTF8.self)
      .split(separator: "\n").joined()
  }

  /// Unmounts, as soon as nobody uses it.
  nonisolated(nonsending) static func unmount(_ place: BytePath) async throws {
    let isDone = try await poll(every: .milliseconds(50)) {
      await shell("umount \(place.lossyText) 2>/dev/null") == 0 ? true : nil
    }
    if isDone == nil { throw TestSupportError("\(place) cannot be unmounted") }
  }

  nonisolated(nonsending) static func run(_ line: String) async throws {
    let status = await shell(line)
    if status != 0 { throw TestSupportError("\(line): \(status)") }
  }
}
