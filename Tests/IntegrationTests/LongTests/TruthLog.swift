import Glibc
import HandoffProtocol
import LinuxSystem
import Paths

/// What the writers say they have done; see Tests/Fixtures/ExportWriter/Truth.swift.
struct TruthLog {
  struct Version: Hashable {
    let path: String
    let digest: String
  }

  /// When each version became whole, in milliseconds, and by which scenario.
  private(set) var ready: [Version: (at: Int64, scenario: String)] = [:]
  /// The writer itself has put an end to it, or it was never whole.
  private(set) var ended: Set<Version> = []
  /// Left alone until the broker had it.
  private(set) var awaited: Set<Version> = []
  private(set) var never: Set<Version> = []
  private(set) var unprovable: Set<Version> = []

  init(_ path: BytePath) throws {
    let bytes = try FileDescriptor.open(path, O_RDONLY).readAll(limit: 1 << 28)
    for line in String(decoding: bytes, as: UTF8.self).split(separator: "\n") {
      let columns = line.split(separator: "\t").map(String.init)
      guard columns.count == 5, let milliseconds = Int64(columns[0]) else { continue }
      let version = Version(path: columns[2], digest: columns[3])
      switch columns[1] {
      case "ready": ready[version] = ready[version] ?? (milliseconds, columns[4])
      case "ended": ended.insert(version)
      case "awaited": awaited.insert(version)
      case "never": never.insert(version)
      default: unprovable.insert(version)
      }
    }
  }

  /// What must be imported: whole, and left alone to the end or until the broker should have had it.
  var required: Set<Version> {
    Set(ready.keys.filter { !ended.contains($0) || awaited.contains($0) })
  }

  /// What was never whole, and lies where it was left.
  var leftIncomplete: Set<Version> { never.subtracting(ended) }

  /// The earliest moment from which content was right to take, wherever it lay.
  var readyAt: [String: Int64] {
    Dictionary(ready.map { ($0.key.digest, $0.value.at) }, uniquingKeysWith: min)
  }
}
