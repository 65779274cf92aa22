import CLinux
package import Glibc
package import Paths

/// Finds the processes that can write to files, in `/proc`; see proc(5).
///
/// It is for telling a person, not for deciding: other users' processes may hide their descriptors, and
/// what it finds may have ended by the time it is read. It blocks, for no longer than its limits say.
package struct FileWriters {
  /// A process with a descriptor or a shared mapping that can write to a file.
  package struct Process: Hashable, Sendable {
    package let id: pid_t
    /// As the kernel has it, at most 15 bytes.
    package let command: BytePath
  }

  /// What a search has found.
  package struct Found: Sendable {
    package fileprivate(set) var processes: [BytePath: [Process]] = [:]
    /// How many processes could not be looked into.
    package fileprivate(set) var hidden = 0
    /// The files that could not be looked at themselves.
    package fileprivate(set) var unreachable: [BytePath: SystemError] = [:]
    /// The search ended before it had seen everything.
    package fileprivate(set) var wasCutShort = false
  }

  /// A file that is looked for.
  fileprivate struct Target {
    let path: BytePath
    let device: UInt64
    let inode: UInt64
  }

  /// How much may be looked at before the search gives up.
  package struct Limits: Sendable {
    /// For the descriptors, and again for the mappings.
    package var time: Duration = .seconds(1)
    package var descriptors = 100_000

    package init() {}
  }

  private static let proc: BytePath = "/proc"
  private let limits: Limits
  private var end: ContinuousClock.Instant
  private var descriptors = 0
  /// By the inode number that descriptor information shows, which differs from stat(2)'s where file
  /// systems are stacked.
  private var targets: [UInt64: [Target]] = [:]
  private var found = Found()

  private init(_ limits: Limits) {
    self.limits = limits
    end = ContinuousClock.now + limits.time
  }

  /// Looks for all of some files at once; those that are not there have no writers.
  package static func find(_ paths: [BytePath], limits: Limits = Limits()) -> Found {
    var search = FileWriters(limits)
    for path in paths { search.add(path) }
    guard !search.targets.isEmpty else { return search.found }
    search.lookAtProcesses { search, id throws(SystemError) in
      try search.lookAtDescriptors(of: id)
    }
    // Mappings cost more to read, and outlive their descriptor only seldom.
    search.targets = search.targets.mapValues { targets in
      targets.filter { search.found.processes[$0.path] == nil }
    }
    .filter { !$0.value.isEmpty }
    if !search.targets.isEmpty {
      search.end = ContinuousClock.now + limits.time
      search.lookAtProcesses { search, id throws(SystemError) in
        try search.lookAtMappings(of: id)
      }
    }
    return search.found
  }

  private mutating func add(_ path: BytePath) {
    do {
      let number = try checked("open", path) { clinux_open_place(path.nulTerminated) }
      let file = FileDescriptor(owning: number)
      let status = try file.status()
      let information = BytePath("/proc/self/fdinfo/\(file.rawValue)")
      let inode = try Self.inode(inInformation: information) ?? status.inode
      let target = Target(path: path, device: status.device, inode: status.inode)
      targets[inode, default: []].append(target)
    } catch {
      found.unreachable[path] = error
    }
  }

  // MARK: Processes

  private mutating func lookAtProcesses(
    _ look: (inout FileWriters, pid_t) throws(SystemError) -> Void
  ) {
    do {
      let ids = try Directory.entries(of: Self.proc).compactMap { pid_t($0.name.lossyText) }
      // The youngest first: who writes has most likely begun not long ago.
      for id in ids.sorted(by: >) {
        if isOver { break }
        lookAt(id, look)
      }
    } catch {
      found.wasCutShort = true
    }
  }

  private mutating func lookAt(
    _ id: pid_t,
    _ look: (inout FileWriters, pid_t) throws(SystemError) -> Void
  ) {
    do {
      try look(&self, id)
    } catch  where [ENOENT, ESRCH, ENOTDIR].contains(error.errno) {
      // It has ended meanwhile.
      return
    } catch {
      found.hidden += 1
    }
  }

  private var isOver: Bool {
    mutating get {
      if ContinuousClock.now >= end || descriptors >= limits.descriptors {
        found.wasCutShort = true
      }
      return found.wasCutShort
    }
  }

  // MARK: Descriptors

  private mutating func lookAtDescriptors(of id: pid_t) throws(SystemError) {
    let folder = try FileDescriptor.open(Self.path(id, "fd"), O_RDONLY | O_DIRECTORY)
    for entry in try Directory.entries(of: folder, Self.path(id, "fd")) {
      descriptors += 1
      if isOver { return }
      // The link's own bits say how it was opened; asking for them touches no file system but proc.
      guard let link = try FileStatus.of(entry.name, in: folder), link.permissions & 0o200 != 0
      else { continue }
      let information = Self.path(id, "fdinfo").appending(entry.name)
      guard let inode = try Self.inode(inInformation: information), let targets = targets[inode],
        let file = try FileStatus.of(entry.name, in: folder, following: true)
      else { continue }
      for target in targets where target.device == file.device && target.inode == file.inode {
        note(id, target.path)
      }
    }
  }

  /// The `ino` line, which Linux has since 5.14 as the fourth; nil if the descriptor is closed by now.
  ///
  /// Only the beginning is read: what follows can be long, for example the watches of inotify.
  private static func inode(inInformation path: BytePath) throws(SystemError) -> UInt64? {
    do {
      let file = try FileDescriptor.open(path, O_RDONLY)
      var bytes = [UInt8](repeating: 0, count: 192)
      let count = try readStart(file, &bytes)
      return number(after: Array("\nino:".utf8), in: bytes[..<count])
    } catch  where error.errno == ENOENT {
      return nil
    }
  }

  private static func readStart(
    _ file: FileDescriptor,
    _ bytes: inout [UInt8]
  ) throws(SystemError) -> Int {
    let result = bytes.withUnsafeMutableBytes { buffer in
      Result { () throws(SystemError) in try file.read(into: buffer) }
    }
    return try result.get()
  }

  private static func number(after key: [UInt8], in bytes: ArraySlice<UInt8>) -> UInt64? {
    guard let start = bytes.indices.first(where: { bytes[$0...].starts(with: key) }) else {
      return nil
    }
    let digits = bytes[(start + key.count)...].drop { !isDigit($0) }.prefix(while: isDigit)
    return UInt64(String(decoding: digits, as: UTF8.self))
  }

  private static func isDigit(_ byte: UInt8) -> Bool {
    byte >= UInt8(ascii: "0") && byte <= UInt8(ascii: "9")
  }

  // MARK: Mappings

  private mutating func lookAtMappings(of id: pid_t) throws(SystemError) {
    let bytes = try FileDescriptor.open(Self.path(id, "maps"), O_RDONLY).readAll(limit: 8 << 20)
    for line in bytes.split(separator: UInt8(ascii: "\n")) {
      // Address, permissions, offset, device, inode, path.
      let words = line.split(separator: UInt8(ascii: " "), maxSplits: 5)
      guard words.count == 6, words[1].last == UInt8(ascii: "s"),
        let inode = UInt64(String(decoding: words[4], as: UTF8.self))
      else { continue }
      let path = words[5].drop { $0 == UInt8(ascii: " ") }
      for target in targets[inode] ?? []
      where target.isOn(device: words[3]) || target.path.bytes.elementsEqual(path) {
        note(id, target.path)
      }
    }
  }

  private mutating func note(_ id: pid_t, _ path: BytePath) {
    let process = Process(id: id, command: Self.command(of: id))
    if found.processes[path]?.contains(process) == true { return }
    found.processes[path, default: []].append(process)
  }

  private static func command(of id: pid_t) -> BytePath {
    do {
      let bytes = try FileDescriptor.open(path(id, "comm"), O_RDONLY).readAll(limit: 256)
      return BytePath(bytes.filter { $0 != UInt8(ascii: "\n") })
    } catch {
      // It ends just now; its number is still worth telling.
      return "?"
    }
  }

  private static func path(_ id: pid_t, _ name: String) -> BytePath {
    proc.appending("\(id)").appending(name)
  }
}

extension FileWriters.Target {
  /// `MAJOR:MINOR` in hexadecimal, as memory maps show it.
  fileprivate func isOn(device text: ArraySlice<UInt8>) -> Bool {
    let numbers = text.split(separator: UInt8(ascii: ":")).map {
      UInt32(String(decoding: $0, as: UTF8.self), radix: 16)
    }
    // The macros of makedev(3) do not import.
    let major = UInt32(truncatingIfNeeded: (device >> 8) & 0xFFF | (device >> 32) & ~0xFFF)
    let minor = UInt32(truncatingIfNeeded: device & 0xFF | (device >> 12) & ~0xFF)
    return numbers == [major, minor]
  }
}
