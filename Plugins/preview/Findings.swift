/// What a person may want to know before the video is published, from what was measured.
struct Findings: Sendable {
  /// Of one kind; of more, the number is told.
  private static let mostOfAKind = 40
  private static let shortestBlack = 0.5
  private static let shortestSilence = 2.0
  /// From so many seconds on it is probably no intention.
  private static let long = 5.0

  let source: Source
  let pass: DecodedPass
  /// As played.
  let duration: Double
  let loudness: LoudnessFacts?
  let settings: PreviewSettings

  var picture: PictureReading { pass.picture }
  var sound: SoundReading { pass.sound }

  /// All of them: those of the whole file first, then in the order of time.
  var all: [Finding] {
    let whole = unmeasured + damage + shape + tracks + lengths + level
    let timed = settings.qualityChecks ? black + frozen + silence + clipping : []
    return whole + timed.sorted { ($0.start ?? -1) < ($1.start ?? -1) }
  }

  // The whole file.

  private var unmeasured: [Finding] {
    if pass.isEmpty {
      return [whole(.notMeasured, .info, "The video was not decoded: no setting asks for it.")]
    }
    if settings.qualityChecks { return [] }
    let text = "Black, frozen, silent and clipped parts were not looked for: quality_checks is off."
    return [whole(.notMeasured, .info, text)]
  }

  private var damage: [Finding] {
    var found: [Finding] = []
    let complaints = pass.complaints
    if complaints.count > 0 {
      let times = complaints.count == 1 ? "once" : "\(complaints.count) times"
      let first = complaints.first.map { ": \($0)" } ?? ""
      found.append(whole(.damaged, .problem, "ffmpeg complained \(times) while it decoded\(first)"))
    }
    if let soundFailure = pass.soundFailure {
      found.append(whole(.damaged, .problem, "The sound could not be decoded: \(soundFailure)"))
    }
    return found
  }

  private var shape: [Finding] {
    let video = source.video
    var found: [Finding] = []
    func add(_ kind: Finding.Kind, _ severity: Finding.Severity, _ text: String) {
      found.append(whole(kind, severity, text))
    }
    if duration < 1 { add(.short, .info, "It is only \(Int(duration * 1000)) ms long.") }
    if video.isInterlaced {
      add(.interlaced, .warning, "The picture is interlaced; the proxy is deinterlaced.")
    }
    if video.isVariableFrameRate { add(.variableFrameRate, .info, "The frame rate varies.") }
    if let hdr = video.hdr {
      let name = hdr == .hybridLogGamma ? "HLG" : "PQ (HDR10)"
      add(.hdr, .info, "The picture is HDR, \(name); the other pictures here are tone-mapped.")
    }
    if video.width % 2 != 0 || video.height % 2 != 0 {
      add(.oddSize, .warning, "\(video.width) × \(video.height): many players want even numbers.")
    }
    if let aspect = video.sampleAspect {
      add(.anamorphic, .info, "The pixels are not square (\(aspect)).")
    }
    if video.rotation != 0 {
      add(.rotated, .info, "Players turn the picture by \(video.rotation)°.")
    }
    if source.report.video.first?.hasAlphaFormat == true && video.codec != "gif" {
      add(.alpha, .info, "Parts of the picture may be transparent.")
    }
    return found
  }

  private var tracks: [Finding] {
    let count = source.report.audio.count
    if count == 0 { return [whole(.noAudio, .info, "There is no sound track.")] }
    if source.soundPlaces.isEmpty {
      return [whole(.notMeasured, .warning, "No sound track is one that ffmpeg can decode.")]
    }
    var found: [Finding] = []
    if count > source.soundPlaces.count {
      found.append(
        whole(.audioTracks, .info, "\(count) sound tracks; \(source.soundName) is heard here.")
      )
    }
    if !pass.isEmpty, pass.graph.measuresSound, pass.soundFailure == nil, sound.pieces.isEmpty {
      found.append(whole(.notMeasured, .warning, "The sound track has no sound in it."))
    } else if !pass.isEmpty, settings.loudness, loudness == nil, pass.soundFailure == nil {
      found.append(whole(.notMeasured, .warning, "The loudness could not be measured."))
    }
    return found
  }

  private var level: [Finding] {
    guard let loudness, !loudness.isSilent else { return [] }
    var found: [Finding] = []
    if let peak = loudness.truePeak, peak > 0 {
      found.append(
        whole(
          .clipping,
          .warning,
          "Peaks reach \(PageText.level(peak)) dBTP, above full scale: they will be clipped."
        )
      )
    }
    if let integrated = loudness.integrated, integrated > -9 || integrated < -35 {
      let word = integrated > -9 ? "loud" : "quiet"
      found.append(
        whole(.loudness, .warning, "The sound is very \(word): \(PageText.level(integrated)) LUFS.")
      )
    }
    return found
  }

  // Parts of it.

  private var black: [Finding] {
    let black = blackStretches
    if let only = black.first, only.length >= duration * 0.98 {
      return [whole(.black, .problem, "The picture is black from beginning to end.")]
    }
    return listed(black, .black) { stretch in
      let isAtEnd = stretch.start < 0.1 || stretch.end > duration - 0.1
      let isExpected = isAtEnd && stretch.length < Self.long
      return (isExpected ? .info : .warning, "Black for \(length(stretch)).")
    }
  }

  private var frozen: [Finding] {
    let frozen = picture.frozenStretches.filter { $0.covered(by: blackStretches) < 0.9 }
    if let only = frozen.first, only.length >= duration * 0.98 {
      return [whole(.freeze, .warning, "The picture does not change from beginning to end.")]
    }
    return listed(frozen, .freeze) { stretch in
      let severity: Finding.Severity = stretch.length < Self.long ? .info : .warning
      return (severity, "The picture stands still for \(length(stretch)).")
    }
  }

  private var silence: [Finding] {
    if sound.pieces.isEmpty { return [] }
    if sound.isSilent { return [whole(.silence, .warning, "The sound track is silent.")] }
    return listed(sound.silent(atLeast: Self.shortestSilence), .silence) { stretch in
      let severity: Finding.Severity = stretch.length < Self.long ? .info : .warning
      return (severity, "Silent for \(length(stretch)).")
    }
  }

  private var clipping: [Finding] {
    listed(sound.clipped, .clipping) { _ in (.warning, "The sound is clipped.") }
  }

  private var blackStretches: [Stretch] {
    Stretch.joined(
      picture.blackStretches,
      gap: 0.05,
      shortest: min(Self.shortestBlack, duration / 2)
    )
  }

  private func listed(
    _ stretches: [Stretch],
    _ kind: Finding.Kind,
    _ words: (Stretch) -> (Finding.Severity, String)
  ) -> [Finding] {
    let listed = stretches.prefix(Self.mostOfAKind).map { stretch in
      let (severity, text) = words(stretch)
      return Finding(
        kind: kind,
        severity: severity,
        start: thousandth(stretch.start),
        end: thousandth(min(stretch.end, duration)),
        text: text
      )
    }
    let more = stretches.count - listed.count
    return listed + (more > 0 ? [whole(kind, .warning, "And \(more) more of these.")] : [])
  }

  func whole(
    _ kind: Finding.Kind,
    _ severity: Finding.Severity,
    _ text: String
  ) -> Finding {
    Finding(kind: kind, severity: severity, start: nil, end: nil, text: text)
  }

  private func thousandth(_ seconds: Double) -> Double { (seconds * 1000).rounded() / 1000 }
  func clock(_ seconds: Double) -> String { TimeText.clock(seconds, hasTenths: true) }
  private func length(_ stretch: Stretch) -> String {
    "\((min(stretch.length, duration) * 10).rounded() / 10) s"
  }
}
