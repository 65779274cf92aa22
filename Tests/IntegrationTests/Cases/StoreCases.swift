import Glibc
import HandoffProtocol
import HandoffTestSupport
import LinuxSystem
import Paths
import Testing

/// Where the library's or the export's file system fails or is another one.
@Suite("Cases: file systems")
struct StoreCases {
  private static let megabyte = 1 << 20

  @Test("Case 18: a full disk stops the intake and nothing else", .timeLimit(.minutes(3)))
  func full() async throws {
    guard await Mounts.areAllowed(for: "a full disk") else { return }
    let names: [BytePath] = ["a.mp4", "b.mp4", "c.mp4"]
    try await Scene.run(Scene.configuration(), starting: false) { scene in
      try await Mounts.run(scene, [("-t tmpfs -o size=30m tmpfs", "library")]) {
        try await scene.broker.start()
        for (number, name) in names.enumerated() {
          try await scene.writeLarge(name, number: UInt64(number), padding: 20 * Self.megabyte)
        }
        try await Self.expectNoSpace(scene, names)
        try await scene.sh("mount -o remount,size=200m library")
        for name in names { try await scene.untilImported(name) }
        #expect(try await scene.assets().count == names.count)
        try await Self.expectWholeObjects(scene)
      }
    }
  }

  /// One of the files has come in; the others wait with the place and the bytes that are needed.
  private static func expectNoSpace(_ scene: Scene, _ names: [BytePath]) async throws {
    let library = scene.broker.root.appending("library").lossyText
    // Two that begin at once may both meet the end of the disk; from the next attempt on it is known
    // before that what is needed.
    _ = try await scene.broker.wait("status") { status in
      (status["candidates"]?.elements ?? [])
        .count { candidate in
          let reason = candidate["reason"]?.text ?? ""
          return candidate["state"]?.text == "no_space" && reason.contains(library)
            && reason.contains("are needed")
        } == 2
    }
    #expect(try await scene.assets().count == 1)
    try await expectWholeObjects(scene)
    for name in names {
      let size = try FileStatus.of(scene.exports.appending(name))?.size ?? 0
      #expect(size > 20 * megabyte)
    }
  }

  /// Nothing partial has a final name, and nothing is left in `staging`.
  private static func expectWholeObjects(_ scene: Scene) async throws {
    let assets = try await scene.assets()
    let objects = scene.broker.root.appending("library/objects")
    var found: Set<String> = []
    for shard in try Directory.entries(of: objects) {
      for entry in try Directory.entries(of: objects.appending(shard.name))
      where entry.name.bytes.count == 64 {
        let path = objects.appending(shard.name).appending(entry.name)
        let bytes = try FileDescriptor.open(path, O_RDONLY).readAll(limit: 1 << 30)
        #expect(try Scene.digest(bytes) == entry.name.lossyText)
        found.insert(entry.name.lossyText)
      }
    }
    #expect(found == Set(assets.map { $0["sha256"]?.text ?? "" }))
    let staging = scene.broker.root.appending("library/staging")
    #expect(try Directory.entries(of: staging).isEmpty)
  }

  @Test("Case 19: a read-only library is tried again until it is not", .timeLimit(.minutes(3)))
  func readOnly() async throws {
    guard await Mounts.areAllowed(for: "a read-only library") else { return }
    try await Scene.run(Scene.configuration(), starting: false) { scene in
      try await Mounts.run(scene, [("-t tmpfs -o size=100m tmpfs", "library")]) {
        try await scene.broker.start()
        try await scene.sh("mount -o remount,ro library")
        let (first, second) = (try await Scene.video(1), try await Scene.video(2))
        try scene.write(first, to: "a.mp4")
        try scene.write(second, to: "b.mp4")
        for name in ["a.mp4", "b.mp4"] as [BytePath] {
          let why = try await scene.broker.wait("why", scene.exports.appending(name)) {
            $0["reason"]?.text?.contains("ead-only") == true
          }
          #expect(why["state"]?.text == "importing")
        }
        try await scene.staysAt(0, assetsFor: .seconds(1))
        try await scene.sh("mount -o remount,rw library")
        try await scene.expectExactly(["a.mp4": first, "b.mp4": second])
      }
    }
  }

  /// Where export and library lie, as `mount` arguments.
  enum Layout: String, CaseIterable, Sendable {
    case exportsInMemory, libraryInMemory, twoBinds

    var mounts: [(arguments: String, target: String)] {
      switch self {
      case .exportsInMemory: [("-t tmpfs -o size=300m tmpfs", "exports")]
      case .libraryInMemory: [("-t tmpfs -o size=300m tmpfs", "library")]
      case .twoBinds: [("--bind one", "exports"), ("--bind two", "library")]
      }
    }
  }

  @Test(
    "Case 21: a library on another file system gets whole objects only",
    .timeLimit(.minutes(3)),
    arguments: Layout.allCases,
    ["keep", "remove"]
  )
  func otherFileSystem(layout: Layout, original: String) async throws {
    guard await Mounts.areAllowed(for: "a library on another file system") else { return }
    let configuration = Scene.configuration(folder: "original = \"\(original)\"")
    try await Scene.run(configuration, starting: false) { scene in
      try await scene.sh("mkdir -p one two")
      try await Mounts.run(scene, layout.mounts) {
        try await scene.broker.start()
        try await scene.writeLarge("v.mp4", number: 1, padding: 64 * Self.megabyte)
        let file = try FileDescriptor.open(scene.exports.appending("v.mp4"), O_RDONLY)
        let bytes = try file.readAll(limit: 1 << 30)
        try file.close()
        let object = scene.broker.root.appending(try Self.objectName(of: bytes))
        // From the first moment at which the name is there, all of it is.
        let size = try await poll(within: .seconds(60), every: .milliseconds(1)) {
          try FileStatus.of(object)?.size
        }
        #expect(size == Int64(bytes.count))
        try await scene.untilImported("v.mp4")
        try await Self.expectWholeObjects(scene)
        let isThere = try await poll(within: .seconds(original == "keep" ? 1 : 20)) {
          try FileStatus.of(scene.exports.appending("v.mp4")) == nil ? true : nil
        }
        #expect(isThere == (original == "keep" ? nil : true))
      }
    }
  }

  private static func objectName(of bytes: [UInt8]) throws -> String {
    let digest = try Scene.digest(bytes)
    return "library/objects/\(digest.prefix(2))/\(digest)"
  }

  @Test("Case 74: a file that cannot be read holds up no other", .timeLimit(.minutes(3)))
  func unreadableBlocks() async throws {
    guard await Mounts.areAllowed(for: "a file that gives EIO") else { return }
    try await Scene.run(Scene.configuration(), starting: false) { scene in
      // Reading beyond the end of a loop device's file gives EIO.
      try await scene.sh("truncate -s 64M image; mkfs.ext4 -q -E lazy_itable_init=0 image")
      try await Mounts.run(scene, [("-o loop image", "exports/disk")]) {
        try await scene.writeLarge("disk/bad.mp4", number: 1, padding: 30 * Self.megabyte)
        try await scene.sh(
          """
          sync; cd exports/disk; b=$(filefrag -v -b4096 bad.mp4 | awk '$1=="0:"{print $4+0}')
          cd ../..; truncate -s $((b * 4096 + 2000000)) image; echo 3 > /proc/sys/vm/drop_caches
          ! cat exports/disk/bad.mp4 > /dev/null 2>&1
          """
        )
        try await scene.broker.start()
        let why = try await scene.broker.wait("why", scene.exports.appending("disk/bad.mp4")) {
          $0["reason"]?.text?.isEmpty == false
        }
        #expect(why["state"]?.text != "imported")
        var good: [BytePath: [UInt8]] = [:]
        for number in 0..<5 {
          good[BytePath("good \(number).mp4")] = try await Scene.video(UInt64(number + 2))
        }
        for (name, bytes) in good { try scene.write(bytes, to: name) }
        for name in good.keys { try await scene.untilImported(name, within: .seconds(15)) }
        try await scene.expectExactly(good)
        let later = try await scene.broker.json("why", scene.exports.appending("disk/bad.mp4"))
        print(
          "Case 74, the file that cannot be read: \(later["state"]?.text ?? ""), "
            + "\(later["reason"]?.text ?? "")"
        )
      }
    }
  }

  @Test("Case 74: long copies do not hold up a short one", .timeLimit(.minutes(5)))
  func lanes() async throws {
    try await Scene.run(Scene.configuration()) { scene in
      let gigabytes = 3
      for number in 0..<3 {
        let padding = gigabytes << 30
        try await scene.writeLarge(
          BytePath("long \(number).mp4"),
          number: UInt64(number),
          padding: padding,
          sparse: true
        )
      }
      for number in 0..<2 { try await scene.file(BytePath("long \(number).mp4"), is: "importing") }
      try scene.write(try await Scene.video(9), to: "short.mp4")
      try await scene.untilImported("short.mp4")
      let assets = try await scene.assets()
      #expect(assets.count == 1, "the short one came after a long one")
    }
  }

  @Test("Case 111: a sparse export stays sparse in the library", .timeLimit(.minutes(3)))
  func sparse() async throws {
    guard await Mounts.areAllowed(for: "a sparse export and a small library") else { return }
    let padding = 1 << 30
    try await Scene.run(Scene.configuration()) { scene in
      try await scene.writeLarge("s.mp4", number: 1, padding: padding, sparse: true)
      let path = scene.exports.appending("s.mp4")
      try await scene.untilImported("s.mp4", within: .seconds(90))
      let digest = try #require(try await scene.assets().first?["sha256"]?.text)
      try await scene.sh("echo '\(digest)  exports/s.mp4' | sha256sum -c --quiet")
      let object = "library/objects/\(digest.prefix(2))/\(digest)"
      let source = try #require(try FileStatus.of(path))
      let stored = try #require(try FileStatus.of(scene.broker.root.appending(object)))
      #expect(stored.size == source.size)
      #expect(
        stored.blocks <= source.blocks + 64,
        "allocated: \(stored.blocks) of \(source.blocks)"
      )
    }
    // With less room than the full length, the length is named and nothing is begun.
    try await Scene.run(Scene.configuration(), starting: false) { scene in
      try await Mounts.run(scene, [("-t tmpfs -o size=500m tmpfs", "library")]) {
        try await scene.broker.start()
        try await scene.writeLarge("s.mp4", number: 1, padding: padding, sparse: true)
        let why = try await scene.file("s.mp4", is: "no_space", "imported", within: .seconds(90))
        if why["state"]?.text == "no_space" {
          #expect(why["reason"]?.text?.contains("needed") == true)
        }
        try await Self.expectWholeObjects(scene)
      }
    }
  }
}
