import Glibc
import HandoffTestSupport
import LinuxSystem
import Paths
import Testing

/// The limits of inotify, lowered in a user namespace of the watcher's own.
@Suite("Limits", .timeLimit(.minutes(3)))
struct LimitTests {
  /// What a watcher is started through for a limit of its own.
  private func limited(_ limit: String, to value: Int) -> [String] {
    [
      "/usr/bin/unshare", "--user", "--map-root-user", "/bin/sh", "-c",
      "echo \(value) >/proc/sys/user/\(limit) && exec \"$0\" \"$@\"",
    ]
  }

  private func raise(_ limit: String, to value: Int, of run: WatchRun) async -> Bool {
    let line = "nsenter --target \(run.processID) --user --preserve-credentials"
    return await shell("\(line) sh -c 'echo \(value) >/proc/sys/user/\(limit)'") == 0
  }

  private func namespacesExist() async -> Bool {
    guard await shell("unshare --user --map-root-user true") == 0 else {
      print("skipped: no user namespace can be had")
      return false
    }
    return true
  }

  @Test("at the watch limit the rest is polled, the limit is named, and more is used (case 9)")
  func pollsBeyondLimit() async throws {
    guard await namespacesExist() else { return }
    let prepare: (BytePath) throws -> Void = { drop in
      for index in 0..<100 { try Directory.create(drop.appending("d\(index)/e")) }
    }
    let settings = ["quiet=50", "poll=200"]
    let wrap = limited("max_inotify_watches", to: 20)
    try await WatchRun.with(settings, prepare: prepare, through: wrap) { run in
      // One watch is the control folder's, so 19 of 201 directories have one.
      let folder = try #require(try await run.ask("folders"))
      let degraded = try #require(folder["degraded"])
      #expect(folder["mode"] == "events")
      #expect(folder.number("watches") == 19)
      #expect(degraded.contains("fs.inotify.max_user_watches"))
      #expect(degraded.contains("182 directories are not covered by events and polled"))
      var names: [BytePath] = []
      for index in 0..<100 {
        let name = BytePath("d\(index)/e/v.mp4")
        try run.files.write("\(index) WHOLE", to: name)
        names.append(name)
      }
      #expect(try await run.missing(of: names).isEmpty)
      #expect(run.imports.values.allSatisfy { $0 == 1 })
      let logs = run.lines.filter { $0["event"] == "log" }
      #expect(logs.count == 1)
      #expect(logs.first?["detail"]?.contains("fs.inotify.max_user_watches") == true)

      #expect(await raise("max_inotify_watches", to: 1000, of: run))
      #expect(try await run.watches(become: 201))
      #expect(try await run.ask("folders")?["degraded"] == nil)
    }
  }

  @Test("where not even the root can be watched, all is polled until it can (case 9)")
  func pollsWithoutRoot() async throws {
    guard await namespacesExist() else { return }
    let settings = ["quiet=50", "poll=200"]
    let wrap = limited("max_inotify_watches", to: 1)
    try await WatchRun.with(settings, through: wrap) { run in
      let folder = try #require(try await run.ask("folders"))
      #expect(folder["mode"] == "poll")
      #expect(folder["degraded"]?.contains("1 directory is") == true)
      #expect(folder["degraded"]?.contains("fs.inotify.max_user_watches") == true)
      try run.files.makeFolder("sub")
      try run.files.write("WHOLE", to: "sub/v.mp4")
      #expect(try await run.reaches("imported", "sub/v.mp4"))
      #expect(await raise("max_inotify_watches", to: 100, of: run))
      #expect(try await run.watches(become: 2))
      let after = try #require(try await run.ask("folders"))
      #expect(after["mode"] == "events")
      #expect(after["degraded"] == nil)
    }
  }

  @Test("without an inotify instance all folders are polled, and it is tried again (case 9)")
  func pollsWithoutInstance() async throws {
    guard await namespacesExist() else { return }
    let settings = ["quiet=50", "poll=200"]
    let wrap = limited("max_inotify_instances", to: 0)
    try await WatchRun.with(settings, through: wrap) { run in
      let folder = try #require(try await run.ask("folders"))
      #expect(folder["mode"] == "poll")
      #expect(folder.number("watches") == 0)
      #expect(folder["degraded"]?.contains("fs.inotify.max_user_instances") == true)
      try run.files.makeFolder("sub")
      try run.files.write("WHOLE", to: "sub/v.mp4")
      #expect(try await run.reaches("imported", "sub/v.mp4"))
      #expect(await raise("max_inotify_instances", to: 10, of: run))
      #expect(try await run.watches(become: 2))
      let after = try #require(try await run.ask("folders"))
      #expect(after["mode"] == "events")
      #expect(after["degraded"] == nil)
      try run.files.write("two WHOLE", to: "w.mp4")
      #expect(try await run.reaches("imported", "w.mp4"))
      #expect(run.imports == ["sub/v.mp4": 1, "w.mp4": 1])
    }
  }

  @Test(
    "one directory that cannot be watched is named and tried again, the others are watched (case 109)",
    arguments: [EIO, EACCES, ENOMEM, ENOSPC]
  )
  func skipsFailing(errno: CInt) async throws {
    let names: [BytePath] = ["a1/b1/c1", "a1/b1/c2", "a1/b2/c1", "a1/b2/c2"]
    let prepare: (BytePath) throws -> Void = { drop in
      for name in names { try Directory.create(drop.appending(name)) }
    }
    // The control folder, the root and a1 come before.
    let fault = "HANDOFF_FAULT=inotify_add_watch:5:errno=\(errno)"
    let settings = ["quiet=50", "poll=2000"]
    try await WatchRun.with(settings, environment: [fault], prepare: prepare) { run in
      let folder = try #require(try await run.ask("folders"))
      let watches = try #require(folder.number("watches"))
      #expect(watches < 8 && watches > 4)
      #expect(folder["degraded"]?.contains(errno == ENOSPC ? "max_user_watches" : "a1/b") == true)
      let videos = names.map { $0.appending("v.mp4") }
      for video in videos { try run.files.write("\(video) WHOLE", to: video) }
      #expect(try await run.missing(of: videos).isEmpty)
      #expect(run.imports.values.allSatisfy { $0 == 1 })
      #expect(try await run.watches(become: 8))
      #expect(try await run.ask("folders")?["degraded"] == nil)
    }
  }

  @Test("a directory that may not be read is named once and taken when it may be (case 109)")
  func readsLater() async throws {
    guard geteuid() == 0 else {
      print("skipped: only root can start the watcher as somebody else")
      return
    }
    let nobody = ["/usr/bin/setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
    let settings = ["quiet=50", "quiet_poll=100", "poll=100"]
    try await WatchRun.with(settings, through: nobody) { run in
      let shut = run.drop.appending("shut")
      // Shut from its first moment, so that no listing comes before.
      try checked("mkdir") { mkdir(shut.nulTerminated, 0o700) }
      try run.files.write("WHOLE", to: "shut/v.mp4")
      try run.files.makeFolder("more")
      try run.files.write("more WHOLE", to: "more/v.mp4")
      #expect(try await run.reaches("imported", "more/v.mp4"))
      let folder = try await run.folders { $0["degraded"]?.contains("shut") == true }
      #expect(folder?["degraded"]?.contains("Permission denied") == true)
      // What vanishes elsewhere is still noticed, over several listings.
      try run.files.write("half", to: "gone.mp4")
      #expect(try await run.reaches("incomplete", "gone.mp4"))
      run.files.removeFile("gone.mp4")
      #expect(try await run.reaches("unknown", "gone.mp4"))
      let told = run.lines.filter { $0["message"] == "a folder is not covered" }
      #expect(told.count <= 2)
      try checked("chmod") { chmod(shut.nulTerminated, 0o755) }
      #expect(try await run.reaches("imported", "shut/v.mp4"))
      #expect(try await run.watches(become: 3))
    }
  }
}
