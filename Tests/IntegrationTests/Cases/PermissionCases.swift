import Glibc
import HandoffProtocol
import HandoffTestSupport
import LinuxSystem
import Paths
import Testing

/// What an ordinary user may not read.
@Suite("Cases: permissions")
struct PermissionCases {
  @Test("Case 23: what cannot be read is listed, and stops nothing", .timeLimit(.minutes(3)))
  func unreadable() async throws {
    guard geteuid() == 0 else {
      print("skipped, only root can start a broker of another user: Case 23")
      return
    }
    let nobody: [BytePath] = [
      "/usr/bin/setpriv", "--reuid=65534", "--regid=65534", "--clear-groups",
    ]
    let configuration = Scene.configuration(folder: "quiet_poll = \"1s\"")
    try await Scene.run(configuration, starting: false, prefix: nobody) { scene in
      let (first, second) = (try await Scene.video(1), try await Scene.video(2))
      try await scene.sh("chmod 755 .; chown -R 65534:65534 .")
      try await scene.broker.start()
      try scene.write(first, to: "no.mp4")
      // Of another owner, so that no lease can be had: two equal looks instead.
      try scene.write(second, to: "yes.mp4")
      try await scene.sh(
        """
        cd exports; chown 65534 no.mp4; chmod 000 no.mp4; chmod 644 yes.mp4
        install -d -o 65534 -m 000 nodir
        """
      )
      try await scene.untilImported("yes.mp4")
      let why = try await scene.file("no.mp4", is: "unreadable")
      let reason = why["reason"]?.text ?? ""
      let path = scene.exports.appending("no.mp4").lossyText
      for part in [path, "owner 65534", "Permission denied"] {
        #expect(reason.contains(part), "\(reason)")
      }
      let status = try await scene.broker.json("status")
      let degraded = status["folders"]?.elements.first?["degraded"]?.text ?? ""
      #expect(!degraded.isEmpty, "a folder that cannot be read is not told")
      print("Case 23, the folder that cannot be read: \(degraded)")
      try await scene.sh("chmod 644 exports/no.mp4")
      try await scene.expectExactly(["no.mp4": first, "yes.mp4": second])
      try scene.write(first + second, to: "later.txt")
      try await scene.sh("chmod 755 exports/nodir")
      let third = try await Scene.video(3)
      try scene.write(third, to: "nodir/in.mp4")
      try await scene.sh("chmod 644 exports/nodir/in.mp4")
      try await scene.untilImported("nodir/in.mp4")
    }
  }
}
