import Glibc
import HandoffPluginKit
import HandoffProtocol
import LinuxSystem
import Paths

extension PreviewWork {
  /// What is known once everything was decoded.
  func facts(
    _ source: Source,
    _ pass: DecodedPass,
    poster: PictureFile,
    contactSheet: PictureFile
  ) async throws -> PreviewFacts {
    var source = source
    source.video.isVariableFrameRate = pass.picture.isVariable
    if pass.picture.frameCount > 0 { source.video.frameCount = pass.picture.frameCount }
    let measured = pass.picture.end.map { max($0, pass.sound.end) }
    // What a file says may be too short; that it ends too early is a finding.
    let isLonger = measured.map {
      Findings.isOff($0, from: source.duration ?? 0) && $0 > source.duration ?? 0
    }
    let duration = isLonger == true ? measured : source.duration
    let loudness =
      settings.loudness && !pass.sound.pieces.isEmpty
      ? pass.sound.loudness(of: source.soundName) : nil
    let findings = Findings(
      source: source,
      pass: pass,
      duration: duration ?? 0,
      loudness: loudness,
      settings: settings
    )
    var audio = source.report.audioFacts
    if settings.proxy, pass.graph.hasSound {
      for place in source.soundPlaces { audio[place].isInProxy = true }
    }
    let report = source.report
    return PreviewFacts(
      title: title,
      fileName: asset.path.lastComponent.displayText,
      localIdentifier: asset.localIdentifier.text,
      sha256: asset.sha256.hex,
      size: asset.size,
      container: asset.container ?? report.format?.name,
      madeAt: madeAt.rfc3339,
      tool: "ffmpeg \(features.version)",
      duration: duration,
      startTime: report.startTime,
      timecode: report.timecode.flatMap { Timecode($0)?.description },
      video: [source.video] + report.videoFacts.dropFirst(),
      audio: audio,
      subtitles: report.subtitles,
      data: report.data,
      chapters: report.chapterFacts,
      poster: poster,
      contactSheet: contactSheet,
      loudness: loudness,
      findings: findings.all
    )
  }

  /// Adds what else was made.
  func addFiles(to facts: inout PreviewFacts, _ source: Source, _ pass: DecodedPass) async throws {
    if settings.proxy, !pass.isEmpty {
      let size = pass.graph.size
      let picture = PictureFilters(video: source.video, size: size, features: features)
      let made = try MediaReport(
        try await ffmpeg.probe(folder.appending(DecodePass.proxy), in: folder)
      )
      facts.proxy = ProxyFile(
        name: DecodePass.proxy,
        width: size.width,
        height: size.height,
        size: try await file(DecodePass.proxy, size).size,
        hasAudio: pass.graph.hasSound,
        hasBurntTimecode: pass.graph.burnsTimecode,
        changes: picture.changes,
        duration: made.format?.duration.flatMap(Double.init)
      )
      if let finding = Findings.proxy(lasting: facts.proxy?.duration, of: pass) {
        facts.findings.insert(finding, at: 0)
      }
    }
    if let storyboard = pass.graph.storyboard, pass.tileCount > 0 {
      facts.storyboard = try await files(of: storyboard, pass.tileCount, facts.duration)
    }
    if settings.waveform, !pass.sound.isSilent {
      try await Waveform(pieces: pass.sound.pieces).draw(in: folder, ffmpeg: ffmpeg)
      facts.waveform = try await file(Waveform.name, Waveform.size)
    }
  }

  /// A picture that was made.
  func file(_ name: String, _ size: PictureSize) async throws -> PictureFile {
    let path = folder.appending(name)
    let bytes = try await thread.run {
      guard let status = try FileStatus.of(path) else { throw SystemError(ENOENT, "stat", path) }
      return status.size
    }
    return PictureFile(name: name, width: size.width, height: size.height, size: bytes)
  }

  private func files(
    of storyboard: Storyboard,
    _ count: Int,
    _ duration: Double?
  ) async throws -> StoryboardFiles {
    // The last one may be of the moment at which the video has just ended.
    let begun = duration.map { min(count, storyboard.tiles(in: $0)) } ?? count
    let count = min(begun, Storyboard.mostSheets * storyboard.columns * storyboard.rows)
    var sheets: [PictureFile] = []
    for number in 0..<storyboard.sheetCount(count) {
      sheets.append(try await file(Storyboard.sheet(number), storyboard.sheetSize))
    }
    let track = folder.appending(Storyboard.track)
    try await thread.run {
      let file = try FileDescriptor.open(track, O_WRONLY | O_CREAT | O_TRUNC, mode: 0o644)
      try file.write(Array(storyboard.cues(count, duration: duration ?? 0).utf8))
      try file.close()
    }
    return StoryboardFiles(
      sheets: sheets,
      track: Storyboard.track,
      tileWidth: storyboard.tile.width,
      tileHeight: storyboard.tile.height,
      columns: storyboard.columns,
      rows: storyboard.rows,
      count: count,
      interval: storyboard.interval.seconds
    )
  }
}
