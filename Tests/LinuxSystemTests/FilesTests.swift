import Glibc
import HandoffTestSupport
import LinuxSystem
import Paths
import Testing

@Suite("Files and folders")
struct FilesTests {
  @Test("are listed with their kinds, whatever bytes their names have")
  func listing() throws {
    let folder = try TemporaryFolder()
    let odd = BytePath([0xFF, 0x0A, 0x20])
    let longest = BytePath(Array(repeating: UInt8(ascii: "x"), count: 255))
    _ = try folder.write("", to: odd)
    _ = try folder.write("", to: longest)
    try Directory.create(folder.path.appending("sub"))
    #expect(symlink("/etc", folder.path.appending("link").nulTerminated) == 0)
    #expect(mkfifo(folder.path.appending("fifo").nulTerminated, 0o600) == 0)
    let entries = try Set(Directory.entries(of: folder.path))
    #expect(
      entries == [
        .init(name: odd, kind: .regular), .init(name: longest, kind: .regular),
        .init(name: "sub", kind: .directory), .init(name: "link", kind: .symbolicLink),
        .init(name: "fifo", kind: .other),
      ]
    )
    #expect(throws: SystemError.self) { try Directory.entries(of: folder.path.appending("link")) }
    #expect(throws: SystemError(ENOENT, "open", "/no/folder")) {
      try Directory.entries(of: "/no/folder")
    }
  }

  @Test("a folder is made with all above it, and again without complaint")
  func making() throws {
    let folder = try TemporaryFolder()
    let deep = folder.path.appending("a/b/c")
    try Directory.create(deep)
    try Directory.create(deep)
    #expect(try FileStatus.of(deep)?.kind == .directory)
    let file = try folder.write("", to: "file")
    #expect(throws: SystemError(EEXIST, "mkdir", file)) { try Directory.create(file) }
  }

  @Test("a folder is made durably with all above it, and again without complaint")
  func makingDurably() throws {
    let folder = try TemporaryFolder()
    let deep = folder.path.appending("a/b/c")
    for _ in 0..<2 { try Directory.createDurably(deep, permissions: 0o700) }
    #expect(try FileStatus.of(deep)?.kind == .directory)
    #expect(try FileStatus.of(deep.parent)?.permissions == 0o700)
  }

  @Test("a rename without replacing refuses a name that is taken")
  func renaming() throws {
    let folder = try TemporaryFolder()
    let one = try folder.write("one", to: "one")
    let two = try folder.write("two", to: "two")
    #expect(throws: SystemError(EEXIST, "renameat2", two)) {
      try DurableFile.renameNoReplace(one, to: two)
    }
    try DurableFile.renameNoReplace(one, to: folder.path.appending("three"))
    #expect(try DurableFile.unlink(two))
    #expect(try !DurableFile.unlink(two))
  }

  @Test("a durable write replaces the whole file and leaves nothing beside it")
  func durableWrite() throws {
    let folder = try TemporaryFolder()
    let file = folder.path.appending("file")
    try DurableFile.write(Array("old and long".utf8), to: file)
    try DurableFile.write(Array("new".utf8), to: file, permissions: 0o640)
    #expect(try FileDescriptor.open(file, O_RDONLY).readAll(limit: 99) == Array("new".utf8))
    #expect(try FileStatus.of(file)?.permissions == 0o640)
    #expect(try Directory.entries(of: folder.path).count == 1)
  }

  @Test("opening beneath a folder follows no link and does not leave it")
  func beneath() throws {
    let folder = try TemporaryFolder()
    try Directory.create(folder.path.appending("sub"))
    _ = try folder.write("inside", to: "sub/file")
    #expect(symlink("/etc/passwd", folder.path.appending("out").nulTerminated) == 0)
    #expect(symlink("sub", folder.path.appending("alias").nulTerminated) == 0)
    let base = try FileDescriptor.open(folder.path, O_RDONLY | O_DIRECTORY)
    let file = try FileDescriptor.openBeneath("sub/file", O_RDONLY, in: base)
    #expect(try file.readAll(limit: 99) == Array("inside".utf8))
    for path: BytePath in ["out", "alias/file", "../passwd", "/etc/passwd"] {
      #expect(throws: SystemError.self) {
        try FileDescriptor.openBeneath(path, O_RDONLY, in: base)
      }
    }
  }

  @Test("holes are found")
  func holes() throws {
    let folder = try TemporaryFolder()
    let path = folder.path.appending("holey")
    let file = try FileDescriptor.open(path, O_RDWR | O_CREAT)
    try file.write(Array(repeating: 1, count: 65_536))
    #expect(try file.firstHole() == 65_536)
    #expect(ftruncate(file.rawValue, 1 << 20) == 0)
    #expect(try file.firstHole() == 65_536)
    #expect(try file.nextData(from: 70_000) == nil)
    #expect(try !file.fileSystem().isNetwork)
  }
}

@Suite("Mounts and file systems")
struct MountTests {
  @Test(
    "a file system is told from its folder, bind mounts included, and named if it is a network's"
  )
  func tellsMounts() async throws {
    guard await shell("unshare --mount mount -t tmpfs none /mnt 2>/dev/null") == 0 else {
      print("skipped: nothing can be mounted here")
      return
    }
    let folder = try TemporaryFolder()
    let (bare, mount) = (folder.path.appending("bare"), folder.path.appending("mount"))
    try Directory.create(bare.appending("a/b"))
    try Directory.create(mount)
    #expect(try !MountPoint.isMounted(mount))
    #expect(try !MountPoint.isMounted(folder.path.appending("nowhere")))
    let outer = try MountPoint.above(mount)
    #expect(await shell("mount --bind \(bare.lossyText) \(mount.lossyText)") == 0)
    defer { _ = system("umount -l \(mount.lossyText)") }
    #expect(try MountPoint.isMounted(mount))
    #expect(try MountPoint.above(mount.appending("a/b")) == mount)
    #expect(try MountPoint.above(bare.appending("a/b")) == outer)
    #expect(FileSystemKind(magic: 0x6969).networkName == "NFS")
    #expect(FileSystemKind(magic: 0x6573_5546).networkName == "FUSE")
    #expect(FileSystemKind(magic: 0xEF53).networkName == nil)
  }
}
