import FoundationEssentials
import HandoffPluginKit
import HandoffProtocol
import Paths

/// Keeps a copy of every video that it is handed, in the folder that its settings name.
@main
struct Shelf: Destination {
  struct Settings: Decodable, Sendable { var folder: String }

  static let descriptor = DestinationDescriptor(name: "shelf", version: "1", isIdempotent: true)
  private let folder: URL

  init(settings: Settings, context: DestinationContext) throws {
    guard settings.folder.hasPrefix("/") else {
      throw ResultError.notConfigured("settings.folder is not an absolute path")
    }
    folder = URL(filePath: settings.folder, directoryHint: .isDirectory)
  }

  func receive(_ handoff: ReceivedHandoff, context: ReceiveContext) async throws -> Receipt {
    var copies: [JSONValue] = []
    for (index, identifier) in handoff.localIdentifiers.enumerated() {
      let video = try await context.resolve(identifier)
      guard let path = video.path.exactText else {
        throw ResultError(.unsupportedMedia, "the file's name is not UTF-8", effect: .none)
      }
      let copy = folder.appending(path: "\(handoff.id)-\(index).\(video.container ?? "video")")
      // One name for each handoff, put there whole: done twice, it leaves the same behind.
      try Data(contentsOf: URL(filePath: path), options: .mappedIfSafe).write(
        to: copy,
        options: .atomic
      )
      copies.append(.string(copy.path))
      await context.progress(Double(index + 1) / Double(handoff.localIdentifiers.count))
    }
    return Receipt(["paths": .array(copies)])
  }
}
