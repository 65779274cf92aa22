import DropFolders
import Glibc
import HandoffCore
import HandoffLog
import HandoffProtocol
import LinuxSystem
import Paths
import Synchronization

/// Writes one JSON object a line to standard output, from any thread.
final class JSONLines: Sendable {
  private let output = Mutex(FileDescriptor(owning: 1))

  func write(_ members: [String: JSONValue]) {
    var members = members
    members["at_us"] = .integer(Self.microseconds)
    do {
      let line = try WireCoder.encode(JSONValue.object(members)) + [UInt8(ascii: "\n")]
      try output.withLock { try $0.write(line) }
    } catch {
      // Nobody reads any more: the test is over.
      exit(3)
    }
  }

  /// On the clock that the test reads too.
  private static var microseconds: Int64 {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1000
  }

  func write(_ change: CandidateChange) {
    write([
      "event": .string("change"),
      "path": .string(change.path.bytes.hexDigits),
      "folder": .string(change.folder.bytes.hexDigits),
      "state": .string(change.state.rawValue),
      "reason": change.reason.map { .string($0) } ?? .null,
      "identifier": change.localIdentifier.map { .string($0.text) } ?? .null,
    ])
  }

  func write(_ arrival: PackageArrival) {
    write([
      "event": .string("package"),
      "path": .string(arrival.path.bytes.hexDigits),
      "members": .integer(Int64(arrival.members.count)),
    ])
  }

  func write(_ record: LogRecord) {
    write([
      "event": .string("log"),
      "message": .string(record.message),
      "detail": .string(
        record.fields.map { "\($0.key.rawValue)=\($0.value)" }.joined(separator: " ")
      ),
    ])
  }

  /// The first folder, and the others within it.
  func write(_ folders: [FolderReport]) {
    guard let first = folders.first else { return }
    var line = members(of: first)
    line["event"] = .string("folders")
    line["others"] = .array(folders.dropFirst().map { .object(members(of: $0)) })
    write(line)
  }

  private func members(of folder: FolderReport) -> [String: JSONValue] {
    [
      "mode": .string(folder.mode.rawValue),
      "watches": .integer(Int64(folder.watches)),
      "candidates": .integer(Int64(folder.candidates)),
      "degraded": folder.degraded.map { .string($0) } ?? .null,
      "rescans": .integer(Int64(folder.rescans)),
      "rescan_reason": folder.rescanReason.map { .string($0) } ?? .null,
    ]
  }

  func write(_ report: CandidateReport?, _ path: BytePath) {
    let evidence = report?.evidence.map { "\($0.check.rawValue)=\($0.passed): \($0.detail)" }
    write([
      "event": .string("report"),
      "path": .string(path.bytes.hexDigits),
      "state": report.map { .string($0.state.rawValue) } ?? .null,
      "reason": report?.reason.map { .string($0) } ?? .null,
      "dated": .bool(report?.evidence.allSatisfy { $0.since != nil } ?? false),
      "evidence": .array(evidence?.map { .string($0) } ?? []),
    ])
  }
}
