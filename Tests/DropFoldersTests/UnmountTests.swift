import Glibc
import HandoffTestSupport
import LinuxSystem
import Paths
import Testing

/// File systems that are unmounted while they are watched, and mounted again: real ones.
@Suite("Unmounting", .timeLimit(.minutes(3)))
struct UnmountTests {
  /// A drop folder on a disk of its own.
  private struct Place {
    let device: String
    let mount: BytePath
    let drop: BytePath
    var files: DropFiles { DropFiles(folder: drop) }

    func path(_ name: BytePath) -> BytePath { drop.appending(name) }
  }

  /// The drop folder is the mount point, or below it; watched by events or polled.
  @Test(
    "an unmounted drop folder is offline, never deleted, and nothing comes twice (case 27)",
    arguments: ["", "exports"],
    ["auto", "poll"]
  )
  func isOffline(below: String, watch: String) async throws {
    guard await Mounts.isPossible("a disk is mounted in this test") else { return }
    try await withTemporaryDirectory { folder in
      try checked("chmod") { chmod(folder.nulTerminated, 0o755) }
      let device = try await Mounts.disk(folder.appending("disk"))
      defer { _ = system("losetup -d \(device)") }
      let mount = folder.appending("mount")
      try Directory.create(mount)
      try await Mounts.run("mount \(device) \(mount.lossyText)")
      defer { _ = system("umount -l \(mount.lossyText) 2>/dev/null") }
      let drop = below.isEmpty ? mount : mount.appending(below)
      try Directory.create(drop)
      let place = Place(device: device, mount: mount, drop: drop)
      let settings = ["quiet=100", "poll=200", "watch=\(watch)", "also=\(drop.lossyText)"]
      try await WatchRun.with(settings) { run in
        try await fill(place, run)
        try await takeAway(place, run)
        try await bringBack(place, run, mode: watch == "poll" ? "poll" : "events")
        try await examine(place, run)
      }
    }
  }

  private func fill(_ place: Place, _ run: WatchRun) async throws {
    try place.files.makeFolder("s")
    try place.files.write("done WHOLE", to: "s/done.mp4")
    try place.files.write("half", to: "s/half.mp4")
    #expect(try await run.reaches("imported", place.path("s/done.mp4")))
    #expect(try await run.reaches("incomplete", place.path("s/half.mp4")))
  }

  private func takeAway(_ place: Place, _ run: WatchRun) async throws {
    try await Mounts.unmount(place.mount)
    #expect(try await run.folders { $0.others.first?["mode"] == "offline" } != nil)
    #expect(try await run.ask("report", place.path("s/half.mp4"))?["state"] == "offline")
    // What lies at the bare mount point is not the folder's.
    try Directory.create(place.drop)
    try place.files.write("bare WHOLE", to: "bare.mp4")
    try run.files.write("other WHOLE", to: "other.mp4")
    #expect(try await run.reaches("imported", "other.mp4"))
    // Over several looks for the root.
    let back = try await run.folders(within: .seconds(2)) {
      $0.others.first?["mode"] != "offline"
    }
    #expect(back == nil)
  }

  private func bringBack(_ place: Place, _ run: WatchRun, mode: String) async throws {
    try await Mounts.run("mount \(place.device) \(place.mount.lossyText)")
    #expect(try await run.folders { $0.others.first?["mode"] == mode } != nil)
    try place.files.write("new WHOLE", to: "s/new.mp4")
    #expect(try await run.reaches("imported", place.path("s/new.mp4")))
    try place.files.write("half WHOLE", to: "s/half.mp4")
    #expect(try await run.reaches("imported", place.path("s/half.mp4")))
  }

  private func examine(_ place: Place, _ run: WatchRun) async throws {
    #expect(!run.states(of: place.path("s/half.mp4")).contains("unknown"))
    #expect(run.states(of: place.path("bare.mp4")).isEmpty)
    let all = ["s/done.mp4", "s/half.mp4", "s/new.mp4"].map { place.path(BytePath($0)) }
    #expect(Set(run.imports.keys) == Set(all + ["other.mp4"]))
    #expect(run.imports.values.allSatisfy { $0 == 1 })
    let folder = try await run.folders { !$0.others.isEmpty }
    let other = try #require(folder?.others.first)
    #expect(other.number("rescans") == 1)
    #expect(other["rescan_reason"]?.contains("unmounted") == true)
  }

  @Test("a disk below a watched root goes and comes back without being taken for deleted")
  func nestedDisk() async throws {
    guard await Mounts.isPossible("a disk is mounted in this test") else { return }
    try await withTemporaryDirectory { folder in
      let device = try await Mounts.disk(folder.appending("disk"))
      defer { _ = system("losetup -d \(device)") }
      try await WatchRun.with(["quiet=100", "poll=200"], inMemory: true) { run in
        let mount = run.drop.appending("disk")
        try Directory.create(mount)
        defer { _ = system("umount -l \(mount.lossyText) 2>/dev/null") }
        try await Mounts.run("mount \(device) \(mount.lossyText)")
        // Nothing tells of a mount: the next listing would find it, or a directory that comes.
        try run.files.rename("disk/lost+found", to: "disk/x")
        try run.files.makeFolder("disk/s")
        try run.files.write("half", to: "disk/s/half.mp4")
        try run.files.write("done WHOLE", to: "disk/s/done.mp4")
        // An overflow makes everything be listed.
        run.signal(SIGSTOP)
        try await run.files.busy { files in
          for index in 0..<20_000 {
            let folder = BytePath("n\(index % 2)")
            try files.makeFolder(folder)
            files.remove(folder)
          }
        }
        run.signal(SIGCONT)
        #expect(try await run.reaches("imported", "disk/s/done.mp4"))
        #expect(try await run.reaches("incomplete", "disk/s/half.mp4"))
        #expect(try await run.watches(become: 4))

        try await Mounts.unmount(mount)
        #expect(try await run.folders { $0["degraded"]?.contains("is away") == true } != nil)
        #expect(try await run.ask("report", "disk/s/half.mp4")?["state"] == "offline")
        #expect(!run.states(of: "disk/s/half.mp4").contains("unknown"))

        try await Mounts.run("mount \(device) \(mount.lossyText)")
        #expect(try await run.folders { $0["degraded"] == nil } != nil)
        #expect(try await run.watches(become: 4))
        try run.files.write("half WHOLE", to: "disk/s/half.mp4")
        #expect(try await run.reaches("imported", "disk/s/half.mp4"))
        #expect(run.imports == ["disk/s/done.mp4": 1, "disk/s/half.mp4": 1])
      }
    }
  }
}
