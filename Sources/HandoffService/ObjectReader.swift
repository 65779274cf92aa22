import AssetLibrary
import HandoffCore
import HandoffLog
import HandoffProtocol
import Ledger
import Paths

/// Reads one asset's object again and tells the ledger.
struct ObjectReader: Sendable {
  let library: AssetLibrary
  let ledger: Ledger
  let logger: Logger

  /// Nil where the pace was stopped first: then nothing is recorded.
  func read(_ known: ObjectKnowledge, at pace: ReadPace) async throws -> ObjectReading? {
    guard let reading = try await library.reread(known.digest, at: pace) else { return nil }
    let condition: ObjectCondition =
      switch reading.verification {
      case .good: .good(modified: reading.modified)
      case .damaged: .damaged
      case .missing: .missing
      }
    try await record(condition, of: known.localIdentifier, known.digest)
    return reading
  }

  /// Reads the objects of an asset's renditions again, and records what that has shown.
  ///
  /// - Returns: those that were read before the pace was stopped.
  func readRenditions(
    of identifier: LocalIdentifier,
    at pace: ReadPace
  ) async throws -> [(rendition: Rendition, reading: ObjectReading)] {
    guard let asset = try await ledger.asset(identifier), asset.status != .deleted else {
      return []
    }
    var read: [(rendition: Rendition, reading: ObjectReading)] = []
    for rendition in asset.renditions {
      guard let reading = try await library.reread(rendition.digest, at: pace) else { break }
      let condition: ObjectCondition =
        switch reading.verification {
        case .good: .good(modified: reading.modified)
        case .damaged: .damaged
        case .missing: .missing
        }
      try await record(condition, of: identifier, rendition)
      read.append((rendition, reading))
    }
    return read
  }

  /// Records what has become of a rendition's object.
  func record(
    _ condition: ObjectCondition,
    of identifier: LocalIdentifier,
    _ rendition: Rendition
  ) async throws {
    let before = try await ledger.recordReading(of: identifier, rendition, condition)
    guard before == .present, condition == .damaged || condition == .missing else { return }
    logger.error(
      "A rendition is damaged or missing: it is not handed off any more",
      [
        .assetID: identifier.text, .detail: rendition.name.text,
        .path: library.objectPath(of: rendition.digest).displayText,
      ]
    )
  }

  /// Records what is known without reading: an object that is missing, or has another size.
  func record(
    _ condition: ObjectCondition,
    of identifier: LocalIdentifier,
    _ digest: ContentDigest
  ) async throws {
    let before = try await ledger.recordReading(of: identifier, condition)
    let fields: [LogKey: String] = [
      .assetID: identifier.text, .path: library.objectPath(of: digest).displayText,
    ]
    switch condition {
    case .good where before == .damaged || before == .unavailable:
      logger.notice("An asset's object is good again", fields)
    case .damaged where before == .present || before == .unavailable:
      logger.error("An object is damaged: its asset is not handed off any more", fields)
    case .missing where before == .present || before == .damaged:
      logger.error("An asset's object is missing from the library", fields)
    case .good, .damaged, .missing: break
    }
  }
}
