import Glibc
import HandoffPluginKit
import HandoffProtocol
import LinuxSystem
import Paths

/// Makes a folder with pictures, a small video, measurements and a page for every asset, with the ffmpeg
/// program.
@main
struct PreviewDestination: Destination {
  static let descriptor = DestinationDescriptor(
    name: "preview",
    version: "1.1",
    isIdempotent: true,
    concurrency: 2,
    settingsSchema: PreviewSettings.schema
  )

  private let settings: PreviewSettings
  private let ffmpeg: FFmpeg
  private let features: FeatureCache
  private let index: IndexFolder

  init(settings: PreviewSettings, context: DestinationContext) async throws {
    self.settings = settings
    let index = IndexFolder(settings.folder)
    self.index = index
    ffmpeg = try FFmpeg(
      path: context.environmentVariable("PATH"),
      threads: settings.threads,
      niceness: settings.nice
    )
    features = FeatureCache(ffmpeg: ffmpeg, settings: settings)
    // What a crash left out of the index, while the broker goes on; the standard error is the log.
    Task {
      await index.refresh { sentence in
        let line = Array("\(sentence)\n".utf8)
        _ = write(STDERR_FILENO, line, line.count)
      }
    }
  }

  func receive(_ handoff: ReceivedHandoff, context: ReceiveContext) async throws -> Receipt {
    let features = try await features.usable()
    var previews: [JSONValue] = []
    let count = Double(handoff.localIdentifiers.count)
    for (index, identifier) in handoff.localIdentifiers.enumerated() {
      let asset = try await context.resolve(identifier)
      let preview = Preview(
        asset: asset,
        title: handoff.title ?? asset.path.stem.lossyText,
        settings: settings,
        ffmpeg: ffmpeg,
        features: features,
        madeAt: context.receivedAt,
        temporaryName: ".handoff-\(handoff.id)-\(index).part"
      )
      let (path, facts) = try await preview.make { done, doing in
        await context.progress((Double(index) + done) / count, doing)
      } register: { name, path in
        try await register(name, path, of: identifier, context)
      }
      if facts.proxy != nil, facts.isDamaged, !settings.registerDamaged {
        await context.log(.warning, "damage was found: the proxy is not registered as a rendition")
      }
      previews.append(.object(PreviewOutput(facts, in: path).members))
    }
    await index.refresh { await context.log(.warning, $0) }
    guard case .object(var output) = previews.first else { return Receipt() }
    if previews.count > 1 { output["previews"] = .array(previews) }
    return Receipt(output)
  }

  func preflight(
    _ handoff: ReceivedHandoff,
    assets: [ConstrainedAsset]
  ) async throws -> [String] {
    let made =
      ["a poster", "a contact sheet"] + (settings.storyboard ? ["a storyboard"] : [])
      + (settings.waveform ? ["a waveform"] : []) + ["a page"]
    var sentences = ["It makes \(made.joined(separator: ", ")) in \(settings.folder.displayText)."]
    guard settings.proxy else { return sentences }
    for asset in assets {
      let name = asset.localIdentifier.text
      guard let width = asset.width, let height = asset.height else {
        sentences.append(
          "It makes a proxy of \(name) in H.264, at most \(settings.proxyHeight) high."
        )
        continue
      }
      let whole = PictureSize(width: width, height: height)
      let size = whole.fitted(short: settings.proxyHeight, isEven: true)
      sentences.append("It makes a proxy of \(name) in H.264, \(size.width) × \(size.height).")
    }
    return sentences
  }

  func checks() async -> [DestinationCheck] {
    await PreviewChecks(settings: settings, ffmpeg: ffmpeg, features: features).all()
  }

  /// Gives the broker a file, for destinations that use it; an older broker takes none.
  private func register(
    _ name: String,
    _ path: BytePath,
    of identifier: LocalIdentifier,
    _ context: ReceiveContext
  ) async throws {
    guard let rendition = RenditionName(name) else { return }
    do {
      try await context.register(rendition, path, of: identifier)
    } catch is RegisteringUnsupported {
      await context.log(.info, "the broker takes no renditions")
    }
  }
}

/// What the result says of one preview: where it is, and little of what was found.
private struct PreviewOutput {
  let members: [String: JSONValue]

  init(_ facts: PreviewFacts, in folder: BytePath) {
    func path(_ name: String) -> JSONValue { .string(folder.appending(name).lossyText) }
    func count(_ severity: Finding.Severity) -> JSONValue {
      .integer(Int64(facts.findings.count { $0.severity == severity }))
    }
    var members: [String: JSONValue] = [
      "path": .string(folder.lossyText),
      "page": path(Preview.page),
      "poster": path(facts.poster.name),
      "contact_sheet": path(facts.contactSheet.name),
      "findings": .object([
        "info": count(.info), "warning": count(.warning), "problem": count(.problem),
      ]),
    ]
    members["proxy"] = facts.proxy.map { path($0.name) }
    members["storyboard"] = facts.storyboard.map { path($0.track) }
    members["waveform"] = facts.waveform.map { path($0.name) }
    members["loudness_lufs"] = facts.loudness?.integrated.map { .number($0) }
    members["true_peak_dbtp"] = facts.loudness?.truePeak.map { .number($0) }
    self.members = members
  }
}
