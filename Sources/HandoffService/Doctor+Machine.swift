import Destinations
import Glibc
import HandoffConfig
import HandoffControl
import HandoffCore
import HandoffProtocol
import LinuxSystem
import Paths

/// What the kernel and the system have to offer.
extension Doctor {
  var searchPath: String { environment["PATH"] ?? CommandSearch.defaultPath }

  var containmentLines: [DoctorReport.Line] {
    get async {
      let support = await ContainmentSupport.find(searchPath: searchPath)
      let contained = configuration.destinations.filter { destination in
        [.plugin, .exec].contains(destination.transport) && destination.containment != .none
      }
      var lines: [DoctorReport.Line] = []
      switch support {
      case .bubblewrap(let program):
        lines.append(.ok("receivers can be contained, by \(program.displayText)"))
      case .none(let reason):
        let names = contained.filter { $0.containment == .require }.map(\.name.text)
        if names.isEmpty {
          lines.append(
            .warning("receivers run without containment: \(reason)", mend: Self.userNamespaces)
          )
        } else {
          lines.append(
            .problem(
              "\(names.joined(separator: ", ")) must be contained and cannot be: \(reason)",
              mend: Self.userNamespaces
            )
          )
        }
      }
      for destination in configuration.destinations where destination.containment == .none {
        guard [.plugin, .exec].contains(destination.transport) else { continue }
        lines.append(
          .warning(
            "\(destination.name) may do whatever the broker's user may: containment = \"none\"",
            mend: "set containment = \"prefer\", and read, write and network as it needs them"
          )
        )
      }
      return lines
    }
  }

  private static let userNamespaces =
    "install bubblewrap and let the broker's user make user namespaces "
    + "(kernel.unprivileged_userns_clone, user.max_user_namespaces, AppArmor)"

  /// The capabilities are the broker's, where it runs: it may have another user.
  var leaseLines: [DoctorReport.Line] {
    get throws {
      let process = broker.map { "\($0.pid)" } ?? "self"
      let file = try FileDescriptor.open(BytePath("/proc/\(process)/status"), O_RDONLY)
      let text = String(decoding: try file.readAll(limit: 65_536), as: UTF8.self)
      let effective = text.split(separator: "\n").first { $0.hasPrefix("CapEff:") }?
        .split(separator: "\t").last.flatMap { UInt64($0, radix: 16) }
      let who = broker == nil ? "this user" : "the broker"
      if let effective, effective & (1 << Self.leaseCapability) != 0 {
        return [.ok("\(who) can prove of any file that its writer has closed it")]
      }
      return [
        .warning(
          "\(who) can lease only its own files: an export of another user is judged by two looks",
          mend: "give the broker CAP_LEASE (systemd: AmbientCapabilities=CAP_LEASE)"
        )
      ]
    }
  }

  /// `CAP_LEASE` of linux/capability.h.
  private static let leaseCapability = 28

  var watchLines: [DoctorReport.Line] {
    get async throws {
      let folders = configuration.dropFolders
      let needed = await files.run {
        folders.map { Self.countFolders($0.path, recursive: $0.recursive) }.reduce(0, +)
      }
      let limit = try Self.number("/proc/sys/fs/inotify/max_user_watches")
      let words = "\(needed) directories are to be watched, \(limit) watches a user may have"
      let remedy = "sysctl fs.inotify.max_user_watches=\(max(needed * 2, 65_536))"
      if needed > limit { return [.problem(words, mend: remedy)] }
      if needed * 10 > limit * 8 { return [.warning(words, mend: remedy)] }
      return [.ok(words)]
    }
  }

  private static func number(_ path: BytePath) throws -> Int {
    let text = String(
      decoding: try FileDescriptor.open(path, O_RDONLY).readAll(limit: 64),
      as: UTF8.self
    )
    return Int(text.prefix { $0.isNumber }) ?? 0
  }

  private static func countFolders(_ folder: BytePath, recursive: Bool) -> Int {
    do {
      let entries = try Directory.entries(of: folder)
      guard recursive else { return 1 }
      return 1
        + entries.filter { $0.kind == .directory }
        .map { countFolders(folder.appending($0.name), recursive: true) }.reduce(0, +)
    } catch {
      // The check of the folders tells of what cannot be listed.
      return 1
    }
  }

  /// The file system of the library, or of the nearest folder above it that is there.
  var spaceLines: [DoctorReport.Line] {
    get throws {
      var place = configuration.library.path
      while try FileStatus.of(place) == nil, place != place.parent { place = place.parent }
      var space = statvfs()
      try checked("statvfs", place) { statvfs(place.nulTerminated, &space) }
      let (size, free) = (
        Int64(space.f_blocks) * Int64(space.f_frsize), Int64(space.f_bavail) * Int64(space.f_frsize)
      )
      let reserve = configuration.library.reserve.bytes(of: size)
      let words = "\(free >> 20) MiB are free, \(reserve >> 20) MiB are kept in reserve"
      let remedy = "make room, or set a smaller library.reserve"
      if free < reserve { return [.problem("no import: \(words)", mend: remedy)] }
      if free < 2 * reserve { return [.warning(words, mend: remedy)] }
      return [.ok(words)]
    }
  }
}
