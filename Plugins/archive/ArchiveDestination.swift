import HandoffPluginKit
import HandoffProtocol
import Paths

/// Keeps a verified copy of every asset in a folder tree of its own.
@main
struct ArchiveDestination: Destination {
  /// The destination's settings.
  struct Settings: Decodable, Sendable {
    /// The archive's folder; absolute.
    var folder: String
    /// Where in it a copy goes; see ``FolderLayout``.
    var layout: String?
  }

  static let descriptor = DestinationDescriptor(
    name: "archive",
    version: "1.0",
    isIdempotent: true,
    concurrency: 2,
    settingsSchema: schema
  )

  private static var schema: JSONValue {
    .object([
      "type": .string("object"),
      "properties": .object([
        "folder": .object(["type": .string("string"), "format": .string("folder")]),
        "layout": .object(["type": .string("string")]),
      ]),
      "required": .array([.string("folder")]),
    ])
  }

  private let folder: BytePath
  private let layout: FolderLayout

  init(settings: Settings, context: DestinationContext) throws {
    folder = BytePath(settings.folder)
    guard folder.isAbsolute else {
      throw ResultError.notConfigured("settings.folder is not an absolute path")
    }
    layout = try FolderLayout(settings.layout ?? FolderLayout.standard)
  }

  func receive(_ handoff: ReceivedHandoff, context: ReceiveContext) async throws -> Receipt {
    let place = folder.appending(layout.path(for: handoff, at: context.receivedAt))
    var files: [JSONValue] = []
    for (index, identifier) in handoff.localIdentifiers.enumerated() {
      let asset = try await context.resolve(identifier)
      let copy = ArchiveCopy(
        asset: asset,
        root: folder,
        folder: place,
        temporaryName: ".handoff-\(handoff.id)-\(index).part"
      )
      let path = try await copy.keep { done in
        await context.progress((Double(index) + done) / Double(handoff.localIdentifiers.count))
      }
      files.append(.object(Self.output(path, asset)))
    }
    guard case .object(var output) = files.first else { return Receipt() }
    if files.count > 1 { output["files"] = .array(files) }
    return Receipt(output)
  }

  private static func output(_ path: BytePath, _ asset: GrantedAsset) -> [String: JSONValue] {
    var output: [String: JSONValue] = [
      "path": .string(path.lossyText),
      "sha256": .string(asset.sha256.hex),
      "size": .integer(asset.size),
    ]
    if let bytes = path.base64UnlessText { output["path_bytes"] = .string(bytes) }
    return output
  }
}
