import Glibc
import HandoffPluginKit
import HandoffProtocol
import LinuxSystem
import Paths

/// Counts what it did: one synced line for each piece of work, so that a test can see doubled work.
///
/// Its work is one append, and after a crash it can tell from its own file whether it was done.
@main
struct CountingDestination: Destination {
  struct Settings: Decodable, Sendable {
    /// The file of its work; absolute.
    var log: String
  }

  static let descriptor = DestinationDescriptor(name: "counting", version: "1.0", concurrency: 4)

  private let log: BytePath
  private let files = BlockingThread("log")

  init(settings: Settings, context: DestinationContext) {
    log = BytePath(settings.log)
  }

  func receive(_ handoff: ReceivedHandoff, context: ReceiveContext) async throws -> Receipt {
    for identifier in handoff.localIdentifiers { _ = try await context.resolve(identifier) }
    try await files.run { [log] () throws(SystemError) in
      let file = try FileDescriptor.open(log, O_WRONLY | O_APPEND | O_CREAT, mode: 0o644)
      try file.write(Array("\(handoff.idempotencyKey)\n".utf8))
      try file.sync()
    }
    return Receipt(["log": .string(log.lossyText)])
  }

  func resume(_ handoff: ReceivedHandoff, context: ReceiveContext) async throws -> Resumption {
    let done = try await files.run { [log] () throws(SystemError) -> String in
      guard try FileStatus.of(log) != nil else { return "" }
      let bytes = try FileDescriptor.open(log, O_RDONLY).readAll(limit: 1 << 26)
      return String(decoding: bytes, as: UTF8.self)
    }
    let isThere = done.split(separator: "\n").contains { $0 == handoff.idempotencyKey }
    return isThere ? .finished(Receipt(["log": .string(log.lossyText)])) : .redo
  }
}
