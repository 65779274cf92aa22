import Glibc
import HandoffTestSupport
import LinuxSystem
import Paths

/// What a broker's process uses at one moment, from proc(5).
struct BrokerVitals: CustomStringConvertible {
  /// Bytes.
  let memory: Int
  let descriptors: Int
  let threads: Int
  /// By the state letter of proc_pid_stat(5); `Z` is one that nobody has collected.
  let children: [String]
  /// The processes of the children, in the same order.
  let childIDs: [Int32]

  init(of pid: Int32) throws {
    let folder = BytePath("/proc/\(pid)")
    memory = try Self.memory(of: pid)
    descriptors = try Directory.entries(of: folder.appending("fd")).count
    let tasks = try Directory.entries(of: folder.appending("task")).map(\.name)
    threads = tasks.count
    let found = try Directory.entries(of: "/proc").compactMap { entry -> (Int32, String)? in
      guard let child = Int32(entry.name.lossyText),
        let file = try? FileDescriptor.open(
          BytePath("/proc").appending(entry.name).appending("stat"),
          O_RDONLY
        ),
        let bytes = try? file.readAll(limit: 4096)
      else { return nil }
      let fields = String(decoding: bytes, as: UTF8.self).split(separator: ")").last?
        .split(separator: " ")
      guard let fields, fields.count > 1, Int32(fields[1]) == pid else { return nil }
      return (child, String(fields[0]))
    }
    children = found.map(\.1)
    childIDs = found.map(\.0)
  }

  /// A process's resident memory, in bytes.
  static func memory(of pid: Int32) throws -> Int {
    let file = try FileDescriptor.open(BytePath("/proc/\(pid)/statm"), O_RDONLY)
    let fields = String(decoding: try file.readAll(limit: 4096), as: UTF8.self)
      .split(separator: " ")
    return fields.count > 1 ? (Int(fields[1]) ?? 0) * sysconf(CInt(_SC_PAGESIZE)) : 0
  }

  var description: String {
    "\(memory >> 20) MiB, \(descriptors) descriptors, \(threads) threads, children \(children)"
  }

  /// Bytes that the allocator may keep of what was in use once: less than the broker's threshold in
  /// mallopt(3).
  static let kept = 48 << 20

  /// No more is in use than before, within a tolerance: 3 descriptors, 4 threads (the runtime's pool),
  /// no child more and none that nobody has collected, and some memory.
  func isBack(to before: BrokerVitals, memory tolerance: Int = 24 << 20) -> Bool {
    descriptors <= before.descriptors + 3 && threads <= before.threads + 4
      && children.count <= before.children.count && !children.contains("Z")
      && memory <= before.memory + tolerance
  }

  /// Looks until everything is back, and returns the last look.
  static func settled(
    _ pid: Int32,
    to before: BrokerVitals,
    memory tolerance: Int = 24 << 20,
    within limit: Duration = .seconds(15)
  ) async throws -> BrokerVitals {
    let found = try await poll(within: limit, every: .milliseconds(100)) { () -> BrokerVitals? in
      let now = try BrokerVitals(of: pid)
      return now.isBack(to: before, memory: tolerance) ? now : nil
    }
    return try found ?? BrokerVitals(of: pid)
  }
}
