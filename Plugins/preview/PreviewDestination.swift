import HandoffPluginKit
import HandoffProtocol
import LinuxSystem
import Paths

/// Makes a folder with a poster, a contact sheet and a page for every asset, with the ffmpeg program.
@main
struct PreviewDestination: Destination {
  /// The destination's settings.
  struct Settings: Decodable, Sendable {
    /// Where the previews go; absolute.
    var folder: String
  }

  static let descriptor = DestinationDescriptor(
    name: "preview",
    version: "1.0",
    isIdempotent: true,
    concurrency: 2,
    settingsSchema: schema
  )

  private static var schema: JSONValue {
    .object([
      "type": .string("object"),
      "properties": .object([
        "folder": .object(["type": .string("string"), "format": .string("folder")])
      ]),
      "required": .array([.string("folder")]),
    ])
  }

  private let folder: BytePath
  private let ffmpeg: FFmpeg

  init(settings: Settings, context: DestinationContext) throws {
    folder = BytePath(settings.folder)
    guard folder.isAbsolute else {
      throw ResultError.notConfigured("settings.folder is not an absolute path")
    }
    ffmpeg = try FFmpeg(path: context.environmentVariable("PATH"))
  }

  func receive(_ handoff: ReceivedHandoff, context: ReceiveContext) async throws -> Receipt {
    var previews: [JSONValue] = []
    let count = Double(handoff.localIdentifiers.count)
    for (index, identifier) in handoff.localIdentifiers.enumerated() {
      let asset = try await context.resolve(identifier)
      let preview = Preview(
        asset: asset,
        title: handoff.title ?? asset.path.stem.lossyText,
        ffmpeg: ffmpeg,
        folder: folder,
        temporaryName: ".handoff-\(handoff.id)-\(index).part"
      )
      let path = try await preview.make { done, doing in
        await context.progress((Double(index) + done) / count, doing)
      }
      try await register(path.appending(Preview.poster), of: identifier, context)
      previews.append(.object(Self.output(path)))
    }
    guard case .object(var output) = previews.first else { return Receipt() }
    if previews.count > 1 { output["previews"] = .array(previews) }
    return Receipt(output)
  }

  /// Gives the broker the poster, for destinations that use it; an older broker takes none.
  private func register(
    _ poster: BytePath,
    of identifier: LocalIdentifier,
    _ context: ReceiveContext
  ) async throws {
    guard let name = RenditionName("poster") else { return }
    do {
      try await context.register(name, poster, of: identifier)
    } catch is RegisteringUnsupported {
      await context.log(.info, "the broker takes no renditions")
    }
  }

  private static func output(_ path: BytePath) -> [String: JSONValue] {
    [
      "path": .string(path.lossyText),
      "page": .string(path.appending(Preview.page).lossyText),
      "poster": .string(path.appending(Preview.poster).lossyText),
      "contact_sheet": .string(path.appending(Preview.contactSheet).lossyText),
    ]
  }
}
