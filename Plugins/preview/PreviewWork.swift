import Glibc
import HandoffPluginKit
import HandoffProtocol
import LinuxSystem
import Paths

/// Makes the files of one preview in a folder, and gathers what is known.
struct PreviewWork: Sendable {
  let asset: GrantedAsset
  let title: String
  let settings: PreviewSettings
  let ffmpeg: FFmpeg
  let features: FFmpegFeatures
  let madeAt: Timestamp
  let folder: BytePath

  let thread = BlockingThread("preview.work")

  init(
    asset: GrantedAsset,
    title: String,
    settings: PreviewSettings,
    ffmpeg: FFmpeg,
    features: FFmpegFeatures,
    madeAt: Timestamp,
    folder: BytePath
  ) {
    self.asset = asset
    self.title = title
    self.settings = settings
    self.ffmpeg = ffmpeg
    self.features = features
    self.madeAt = madeAt
    self.folder = folder
  }

  /// Makes everything that the settings ask for.
  func make(_ progress: @Sendable (Double, String) async -> Void) async throws -> PreviewFacts {
    await progress(0, "looking at the file")
    var source = try await look()
    let stills = Stills(
      source: source,
      ffmpeg: ffmpeg,
      features: features,
      folder: folder,
      size: source.size.fitted(short: 720, isEven: false)
    )
    let taken = try await stills.take { await progress(0.01 + $0 * 0.04, "taking stills") }
    let pass = try await decode(&source) { await progress(0.05 + $0 * 0.9, $1) }
    await progress(0.95, "making the contact sheet")
    let sheet = try await stills.makeContactSheet(Preview.contactSheet, of: taken)
    let best = PictureLook.best(of: try await stills.looks(of: taken))
    let poster = taken[min(best, taken.count - 1)].name
    try await thread.run {
      try DurableFile.rename(folder.appending(poster), to: folder.appending(Preview.poster))
    }
    var facts = try await facts(
      source,
      pass,
      poster: try await file(Preview.poster, stills.size),
      contactSheet: try await file(Preview.contactSheet, sheet)
    )
    try await addFiles(to: &facts, source, pass)
    return facts
  }

  private func look() async throws -> Source {
    let report = try MediaReport(try await ffmpeg.probe(asset.path, in: folder))
    var source = try Source(report, of: asset)
    let sample = FieldSample(source: source, ffmpeg: ffmpeg, folder: folder)
    do {
      if settings.qualityChecks, let order = try await sample.order() {
        source.video.fieldOrder = order
        source.video.isInterlaced = true
      }
    } catch is FFmpegFailure {
      // Whoever decodes the whole of it will say so.
    }
    if source.duration == nil { source.duration = try await playedTime(source) }
    return source
  }

  /// The duration where nobody has measured it: where the last packet ends, never what a header says.
  private func playedTime(_ source: Source) async throws -> Double? {
    let map: [BytePath] = ["-map", BytePath("0:\(source.pictureTrack)"), "-c", "copy"]
    let said = LastLine()
    do {
      try await ffmpeg.run(
        ["-progress", "pipe:4"] + ffmpeg.input(source.path) + map + ["-f", "null", "-"],
        in: folder,
        readers: [4: { if $0.hasPrefix("out_time_us=") { said.take($0) } }]
      )
    } catch is FFmpegFailure {
      return nil
    }
    guard case .value(_, let text) = MetadataLine(said.text), let time = Double(text), time > 0
    else {
      return nil
    }
    return time / 1e6
  }

  /// Decodes the whole file; without its sound where that cannot be decoded.
  private func decode(
    _ source: inout Source,
    _ progress: @Sendable (Double, String) async -> Void
  ) async throws -> DecodedPass {
    func pass(_ source: Source) -> DecodePass {
      DecodePass(source, settings: settings, ffmpeg: ffmpeg, features: features, folder: folder)
    }
    let whole = pass(source)
    guard settings.needsDecoding else { return DecodedPass(graph: whole.graph, readings: nil) }
    do {
      return DecodedPass(graph: whole.graph, readings: try await whole.run(progress))
    } catch let error as FFmpegFailure
      where !source.soundTracks.isEmpty && !error.isOutOfSpace && !error.isOutOfTime
    {
      var mute = source
      mute.soundTracks = []
      let pass = pass(mute)
      let readings = try await pass.run(progress)
      source = mute
      return DecodedPass(graph: pass.graph, readings: readings, soundFailure: error.line)
    }
  }
}
