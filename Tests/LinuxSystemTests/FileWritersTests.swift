import Glibc
import HandoffTestSupport
import LinuxSystem
import Paths
import Testing

@Suite("Who can write to a file", .timeLimit(.minutes(1)))
struct FileWritersTests {
  @Test("descriptors that can write are found by the file, also under another of its names")
  func descriptors() throws {
    let folder = try TemporaryFolder()
    let path = try folder.write("text", to: "file")
    let reader = try FileDescriptor.open(path, O_RDONLY)
    #expect(FileWriters.find([path]).processes[path] == nil)
    let other = folder.path.appending("other")
    try checked("link") { link(path.nulTerminated, other.nulTerminated) }
    let writer = try FileDescriptor.open(other, O_WRONLY)
    let found = FileWriters.find([path, folder.path.appending("none")])
    let mine = try #require(found.processes[path]?.first { $0.id == getpid() })
    let name = try FileDescriptor.open("/proc/self/comm", O_RDONLY).readAll(limit: 64)
    #expect(mine.command == BytePath(name.dropLast()))
    #expect(found.unreachable[folder.path.appending("none")]?.errno == ENOENT)
    #expect(!found.wasCutShort)
    try writer.close()
    try reader.close()
    #expect(FileWriters.find([path]).processes[path]?.contains { $0.id == getpid() } != true)
  }

  @Test("a shared mapping counts when its descriptor is closed, and one of another file does not")
  func mappings() throws {
    let folder = try TemporaryFolder()
    let path = try folder.write("text", to: "a file")
    let other = try folder.write("text", to: "another")
    let file = try FileDescriptor.open(path, O_RDWR)
    let memory = mmap(nil, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file.rawValue, 0)
    try #require(memory != MAP_FAILED)
    defer { munmap(memory, 4096) }
    try file.close()
    let found = FileWriters.find([path, other])
    #expect(found.processes[path]?.map(\.id) == [getpid()])
    #expect(found.processes[other] == nil)
  }

  @Test("a search ends when it may look no further, and says so")
  func limits() throws {
    let folder = try TemporaryFolder()
    let path = try folder.write("text", to: "file")
    var limits = FileWriters.Limits()
    limits.descriptors = 1
    let found = FileWriters.find([path], limits: limits)
    #expect(found.wasCutShort)
  }
}
