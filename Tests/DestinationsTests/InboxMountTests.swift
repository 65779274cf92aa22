import Destinations
import Glibc
import HandoffCore
import HandoffProtocol
import HandoffTestSupport
import LinuxSystem
import Paths
import Testing

/// Inboxes on file systems that a test mounts.
@Suite("An inbox on a file system of its own", .timeLimit(.minutes(1)))
struct InboxMountTests {
  private static func withMount(
    _ line: (String) -> String,
    _ body: nonisolated(nonsending) (BytePath) async throws -> Void
  ) async throws {
    try await withTemporaryDirectory { root in
      let mount = root.appending("mount")
      try Directory.create(mount)
      guard await shell(line(mount.lossyText) + " 2>/dev/null") == 0 else {
        return print("skipped: nothing can be mounted here")
      }
      do {
        try await body(mount)
      } catch {
        _ = await shell("umount -l '\(mount.lossyText)'")
        throw error
      }
      _ = await shell("umount -l '\(mount.lossyText)'")
    }
  }

  @Test("shares the bytes where the file system can")
  func reflink() async throws {
    let xfs = { (mount: String) in
      "truncate -s 320M '\(mount).image' && mkfs.xfs -q -m reflink=1 '\(mount).image' "
        + "&& mount -o loop '\(mount).image' '\(mount)'"
    }
    try await Self.withMount(xfs) { mount in
      try await InboxScene.run(in: mount) { scene in
        let bytes = [UInt8](repeating: 7, count: 5_000_000)
        let asset = try scene.asset(bytes, "a.mp4")
        let result = try await scene.deliver([asset])
        #expect(result.output?["method"]?.text == "reflink", "\(result)")
        #expect(result.output?["bytes_copied"] == .integer(0))
        #expect(try scene.bytes("a.mp4") == bytes)
        // Its own file: what the reader does to it does nothing to the library's.
        try FileDescriptor.open(scene.inbox.appending("a.mp4"), O_WRONLY).write([1])
        let library = try FileDescriptor.open(asset.path, O_RDONLY).readAll(limit: 1 << 24)
        #expect(library == bytes)
        print("reflink on XFS")
      }
    }
  }

  @Test("that is full waits, leaves no part, and goes on when there is room")
  func full() async throws {
    let small = { (mount: String) in "mount -t tmpfs -o size=2M none '\(mount)'" }
    try await Self.withMount(small) { mount in
      try await InboxScene.run { scene in
        let receiver = try scene.receiver(inbox: mount.appending("inbox"))
        let ballast = mount.appending("ballast")
        try FileDescriptor.open(ballast, O_WRONLY | O_CREAT).write(
          [UInt8](repeating: 1, count: 1 << 20)
        )
        let asset = try scene.asset([UInt8](repeating: 3, count: 1_500_000), "a.mp4")
        let error = try await scene.deliver([asset], receiver).error
        #expect(error?.code == .destinationUnavailable)
        #expect(error?.effect == Effect.none)
        #expect(error?.retry == .later)
        #expect(error?.message.hasPrefix("there is no space left in the inbox") == true)
        #expect(try scene.names(mount.appending("inbox")).isEmpty)
        try DurableFile.unlink(ballast)
        #expect(try await scene.deliver([asset], receiver).output?["method"]?.text == "copy")
        print("full tmpfs")
      }
    }
  }

  @Test("that can only be read waits")
  func readOnly() async throws {
    let tmpfs = { (mount: String) in "mount -t tmpfs none '\(mount)'" }
    try await Self.withMount(tmpfs) { mount in
      try await InboxScene.run { scene in
        try Directory.create(mount.appending("inbox"))
        #expect(await shell("mount -o remount,ro '\(mount.lossyText)'") == 0)
        let receiver = try scene.receiver(inbox: mount.appending("inbox"))
        let error = try await scene.deliver([scene.asset([1], "a.mp4")], receiver).error
        #expect(error?.message.hasSuffix("can only be read") == true)
        #expect(error?.retry == .later)
      }
    }
  }
}
