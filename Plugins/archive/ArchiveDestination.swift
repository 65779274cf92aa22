import HandoffPluginKit
import HandoffProtocol
import Paths

/// Keeps a verified copy of every asset in a folder tree of its own.
@main
struct ArchiveDestination: Destination {
  static let descriptor = DestinationDescriptor(
    name: "archive",
    version: "1.0",
    isIdempotent: true,
    canVerify: true,
    concurrency: 2,
    settingsSchema: ArchiveSettings.schema
  )

  private let layout: Layout
  private let store: any ArchiveStore

  init(settings: ArchiveSettings, context: DestinationContext) throws {
    if settings.mhlRoot != nil, settings.mhl != true {
      throw ResultError.notConfigured("settings.mhl_root stands without mhl = true")
    }
    layout = try Layout(settings.layout ?? Layout.standard, mhlRoot: settings.mhlRoot)
    switch try settings.store() {
    case .folder(let folder): store = LocalStore(folder: folder, keepsMHL: settings.mhl ?? false)
    case .remote(let remote):
      store = RemoteStore(remote: try Remote(remote, settings, context), work: context.work)
    }
  }

  func receive(_ handoff: ReceivedHandoff, context: ReceiveContext) async throws -> Receipt {
    var copies: [ArchiveReceipt] = []
    let count = Double(handoff.localIdentifiers.count)
    for (index, identifier) in handoff.localIdentifiers.enumerated() {
      let asset = try await context.resolve(identifier)
      let item = ArchiveItem(
        asset: asset,
        place: layout.place(for: LayoutValues(handoff, asset, context)),
        temporaryName: ".handoff-\(handoff.id)-\(index).part"
      )
      copies.append(
        try await store.keep(item) { await context.progress((Double(index) + $0) / count) }
      )
    }
    return ArchiveReceipt.output(try await store.finish(handoff.id, copies))
  }

  func checks() async -> [DestinationCheck] {
    await store.checks()
  }

  func verify(_ delivered: VerifyParameters) async throws -> [VerifiedAsset] {
    var found: [VerifiedAsset] = []
    for asset in delivered.assets {
      let path = ArchiveReceipt.formerPath(of: asset, in: delivered.output)
      let checksum = ArchiveReceipt.formerChecksum(of: asset, in: delivered.output)
      found.append(try await store.verify(asset, at: path, checksum))
    }
    return found
  }
}
