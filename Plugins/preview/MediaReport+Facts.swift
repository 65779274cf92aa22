extension MediaReport {
  private static let mostChapters = 1000

  /// The picture tracks, the one that is shown first.
  var videoFacts: [VideoFacts] { video.map { $0.videoFacts(of: self) } }
  var audioFacts: [AudioFacts] { audio.map(\.audioFacts) }

  var subtitles: [TrackFacts] { streams.filter { $0.kind == "subtitle" }.map(\.trackFacts) }

  var data: [TrackFacts] {
    streams.filter { !["video", "audio", "subtitle"].contains($0.kind) }.map(\.trackFacts)
  }

  var chapterFacts: [ChapterFacts] {
    (chapters ?? []).prefix(Self.mostChapters).compactMap { chapter in
      guard let start = chapter.startTime.flatMap(Double.init),
        let end = chapter.endTime.flatMap(Double.init), start.isFinite, end.isFinite
      else { return nil }
      return ChapterFacts(
        title: chapter.tags?["title"].map { String($0.prefix(Self.longestTag)) },
        start: start,
        end: end
      )
    }
  }

  /// Where the file's clock begins, if not at 0.
  var startTime: Double? {
    guard let start = format?.startTime.flatMap(Double.init), start.isFinite, start != 0 else {
      return nil
    }
    return start
  }
}

extension MediaReport.Stream {
  /// The codec, or the four characters of one that ffmpeg does not know.
  var codecName: String { codec ?? codecTag ?? "unknown" }

  /// Degrees clockwise; what is no quarter turn is none.
  var quarterTurn: Int {
    guard let rotation, rotation.isFinite, abs(rotation) <= 360 else { return 0 }
    let clockwise = (Int((-rotation).rounded()) + 720) % 360
    return clockwise % 90 == 0 ? clockwise : 0
  }

  var size: PictureSize {
    PictureSize(
      width: width ?? 1,
      height: height ?? 1,
      sampleAspect: Fraction(sampleAspect),
      rotation: quarterTurn
    )
  }

  var hasAlphaFormat: Bool {
    guard let pixelFormat else { return false }
    return ["yuva", "rgba", "bgra", "argb", "abgr", "gbrap", "ya", "pal8"].contains {
      pixelFormat.hasPrefix($0)
    }
  }

  fileprivate func videoFacts(of report: MediaReport) -> VideoFacts {
    let shown = size
    let aspect = Fraction(sampleAspect)
    return VideoFacts(
      codec: codecName,
      profile: profile == "unknown" ? nil : profile,
      pixelFormat: pixelFormat,
      bitDepth: bitDepth,
      width: width ?? 0,
      height: height ?? 0,
      displayWidth: shown.width,
      displayHeight: shown.height,
      sampleAspect: aspect?.value == 1 ? nil : aspect.flatMap { _ in sampleAspect },
      rotation: quarterTurn,
      frameRate: Fraction(averageRate)?.value,
      nominalFrameRate: Fraction(nominalRate).map { "\($0.numerator)/\($0.denominator)" },
      isVariableFrameRate: false,
      bitRate: bitRate.flatMap { Int($0) },
      fieldOrder: fieldOrder == "unknown" ? nil : fieldOrder,
      isInterlaced: ["tt", "bb", "tb", "bt"].contains(fieldOrder),
      colorPrimaries: Self.known(colorPrimaries),
      colorTransfer: Self.known(colorTransfer),
      colorMatrix: Self.known(colorMatrix),
      colorRange: Self.known(colorRange),
      hdr: Self.dynamicRange(colorTransfer),
      hasAlpha: hasAlphaFormat && codec != "gif" || tags["alpha_mode"] == "1",
      frameCount: frameCount.flatMap { Int($0) },
      timecode: tags["timecode"].flatMap { Timecode($0)?.description },
      language: language,
      title: tags["title"]
    )
  }

  fileprivate var audioFacts: AudioFacts {
    AudioFacts(
      codec: codecName,
      channels: channels ?? 0,
      layout: layout,
      sampleRate: sampleRate.flatMap { Int($0) } ?? 0,
      bitRate: bitRate.flatMap { Int($0) },
      language: language,
      title: tags["title"]
    )
  }

  fileprivate var trackFacts: TrackFacts {
    TrackFacts(codec: codecName, language: language, title: tags["title"])
  }

  private var language: String? {
    let language = tags["language"]
    return language == "und" ? nil : language
  }

  /// By what the file says, else by the name of the pixel format: `yuv422p10le`.
  private var bitDepth: Int? {
    if let said = bitsPerRawSample.flatMap({ Int($0) }), said > 0 { return said }
    guard let pixelFormat else { return nil }
    for depth in [9, 10, 12, 14, 16] {
      if pixelFormat.hasSuffix("p\(depth)le") || pixelFormat.hasSuffix("p\(depth)be")
        || pixelFormat.contains("p0\(depth)")
      {
        return depth
      }
    }
    return 8
  }

  private static func known(_ name: String?) -> String? {
    name == "unknown" || name == "reserved" ? nil : name
  }

  private static func dynamicRange(_ transfer: String?) -> VideoFacts.DynamicRange? {
    switch transfer {
    case "smpte2084": .perceptualQuantizer
    case "arib-std-b67": .hybridLogGamma
    default: nil
    }
  }
}
