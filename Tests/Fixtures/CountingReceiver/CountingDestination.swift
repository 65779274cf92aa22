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
    /// Registers a rendition of this name: the asset's bytes with a free box after them.
    var rendition: String?
  }

  static let descriptor = DestinationDescriptor(name: "counting", version: "1.0", concurrency: 4)

  /// What it puts after the bytes of an asset.
  private static let box = [0, 0, 0, 16] + Array("freecounting".utf8)

  private let log: BytePath
  private let rendition: RenditionName?
  private let files = BlockingThread("log")

  init(settings: Settings, context: DestinationContext) {
    log = BytePath(settings.log)
    rendition = settings.rendition.flatMap { RenditionName($0) }
  }

  func receive(_ handoff: ReceivedHandoff, context: ReceiveContext) async throws -> Receipt {
    for identifier in handoff.localIdentifiers {
      let asset = try await context.resolve(identifier)
      // Before the work is counted: what is counted is not done again.
      if let rendition { try await register(rendition, of: asset, context) }
    }
    try await files.run { [log] () throws(SystemError) in
      let file = try FileDescriptor.open(log, O_WRONLY | O_APPEND | O_CREAT, mode: 0o644)
      try file.write(Array("\(handoff.idempotencyKey)\n".utf8))
      try file.sync()
    }
    return Receipt(["log": .string(log.lossyText)])
  }

  private func register(
    _ name: RenditionName,
    of asset: GrantedAsset,
    _ context: ReceiveContext
  ) async throws {
    let path = context.work.appending("rendition.mp4")
    try await files.run { () throws(SystemError) in
      let bytes = try FileDescriptor.open(asset.path, O_RDONLY).readAll(limit: 1 << 26)
      let file = try FileDescriptor.open(path, O_WRONLY | O_CREAT | O_TRUNC, mode: 0o644)
      try file.write(bytes + Self.box)
    }
    try await context.register(name, path, of: asset.localIdentifier)
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
