import Glibc
import HandoffProtocol
import HandoffTestSupport
import LinuxSystem
import Paths
import Testing

@Suite(
  "archive on other file systems",
  .timeLimit(.minutes(3)),
  .enabled(if: getuid() == 0, "mounts need root")
)
struct ArchiveFileSystemTests {
  /// FUSE without second names and without renames that do not replace.
  private static let rcloneMount = """
    mkdir PLACE.b && { HOME=PLACE.home setsid -f rclone mount PLACE.b PLACE --vfs-cache-mode writes \
    --vfs-write-back 0s < /dev/null > /dev/null 2>&1; } \
    && timeout 10 sh -c 'until mountpoint -q PLACE; do sleep 0.02; done'
    """

  /// Mounts something for the time of a test; false where that cannot be done here.
  private func mounted(
    _ command: String,
    _ body: (ArchiveScene, BytePath) async throws -> Void
  ) async throws -> Bool {
    var scene = try ArchiveScene(["layout": .string("a"), "mhl": .bool(true)])
    let place = scene.space.path.appending("mount")
    try Directory.create(place)
    let set = command.replacing("PLACE", with: place.lossyText)
      .replacing("IMAGE", with: "\(place.lossyText).img")
    guard try await scene.sh(set).code == 0 else { return false }
    scene.out = place.appending("archive")
    do {
      try await body(scene, place)
    } catch {
      _ = try await scene.sh("cd /; umount -l \(place.lossyText)")
      throw error
    }
    #expect(try await scene.sh("cd /; umount -l \(place.lossyText)").code == 0)
    return true
  }

  @Test(
    "copies from the same file system share its bytes",
    arguments: ["mkfs.xfs -q -m reflink=1", "mkfs.btrfs -q"]
  )
  func reflinks(mkfs: String) async throws {
    let mount = "truncate -s 400M IMAGE && \(mkfs) IMAGE && mount -o loop IMAGE PLACE"
    let isDone = try await mounted(mount) { scene, place in
      let granted = try Granted(.pattern(1, count: 3_000_000), named: "a.mp4", in: scene.space)
      let source = place.appending("a.mp4")
      #expect(try await scene.sh("cp '\(granted.path.lossyText)' '\(source.lossyText)'").code == 0)
      let file = try Granted(file: source)
      let outcome = try await scene.deliver("h", file)
      #expect(outcome.output?["checksum"]?["method"]?.text == "shared")
      let other = try await scene.deliver("i", try scene.file("one", "b.mp4"))
      #expect(other.output?["checksum"]?["method"]?.text == "read back")
      #expect(try await scene.generations("a") == ["a.mp4", "b.mp4"])
      #expect(try await scene.sh("cd a && sha256sum -c SHA256SUMS").code == 0)
    }
    if !isDone { print("skipped: \(mkfs) is not installed") }
  }

  @Test("a full disk at any place leaves nothing under a final name, and later it goes on")
  func full() async throws {
    var failed = 0
    for pages in stride(from: 72, through: 88, by: ArchiveScene.isThorough ? 1 : 4) {
      let mount = "mount -t tmpfs -o size=\(pages * 4)k none PLACE"
      let isDone = try await mounted(mount) { scene, place in
        let file = try Granted(.pattern(3, count: 300_000), named: "a.mp4", in: scene.space)
        let outcome = try await scene.deliver("h", file)
        if let failure = outcome.failure {
          failed += 1
          #expect(failure.retry == .later, "\(pages) pages: \(failure)")
          #expect(failure.effect == Effect.none)
          let left = try await scene.sh(
            "cd a 2>/dev/null && ls -A | grep -v -e SUMS -e ascmhl; true"
          )
          // What has the final name is whole.
          #expect(["", "a.mp4\n"].contains(left.text), "\(pages) pages")
          if !left.text.isEmpty {
            let digest = try await scene.sh("sha256sum < a/a.mp4").text
            #expect(digest.hasPrefix(file.asset.sha256.hex))
          }
          #expect(try await scene.sh("mount -o remount,size=1m \(place.lossyText)").code == 0)
          let again = try await scene.deliver("h", file, attempt: 2)
          #expect(again.failure == nil)
        }
        #expect(try await scene.generations("a") == ["a.mp4"], "\(pages) pages")
        #expect(try await scene.sh("cd a && sha256sum -c SHA256SUMS").code == 0)
      }
      try #require(isDone)
    }
    #expect(failed >= 2)
  }

  @Test(
    "files of every size are right, where it is read back meanwhile and where it is afterwards",
    arguments: [
      "true", "mount -t tmpfs none PLACE", "mkdir PLACE.b && bindfs PLACE.b PLACE",
      Self.rcloneMount,
    ]
  )
  func sizes(mount: String) async throws {
    // A folder that is mounted on itself is on the disk that the tests are on.
    let mount = mount == "true" ? "mount --bind PLACE PLACE" : mount
    let isDone = try await mounted(mount) { scene, _ in
      // It forgets what is in a folder that gets another name.
      let hasMHL = mount != Self.rcloneMount
      var scene = scene
      scene.settings["mhl"] = .bool(hasMHL)
      let piece = 4 << 20
      for count in [0, 1, 4096, piece - 1, piece, piece + 1, 2 * piece + 4096] {
        let file = try Granted(
          .pattern(9, count: count),
          named: BytePath("\(count).mp4"),
          in: scene.space
        )
        let outcome = try await scene.deliver("h\(count)", file)
        #expect(outcome.failure == nil, "\(count)")
      }
      #expect(try await scene.sh("cd a && sha256sum -c SHA256SUMS").code == 0)
      if hasMHL { #expect(try await scene.generations("a").count == 7) }
    }
    if !isDone { print("skipped: \(mount)") }
  }

  @Test("a file system that is read-only waits for a person, and is told by the checks")
  func readOnly() async throws {
    let mount = "mount -t tmpfs none PLACE && mkdir PLACE/archive && mount -o remount,ro PLACE"
    let isDone = try await mounted(mount) { scene, place in
      let outcome = try await scene.deliver("h", try scene.file("one", "a.mp4"))
      #expect(outcome.failure?.code == .destinationUnavailable)
      #expect(outcome.failure?.retry == .afterFix)
      let answer: StatusAnswer = try await scene.plugin.run { broker, _ in
        try await broker.ask(.status, StatusQuestion(checks: true))
      }
      #expect(answer.checks?.first { $0.name == "writable" }?.passed == false)
    }
    try #require(isDone)
  }
}
