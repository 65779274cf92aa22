/// The technical data, in groups.
struct PageFacts {
  let facts: PreviewFacts

  var markup: PageMarkup {
    let pictures = facts.video.enumerated().map { number, track in
      Self.group(facts.video.count > 1 ? "Picture \(number + 1)" : "Picture", picture(track))
    }
    return """
      <section class="panel" aria-labelledby="facts-title">
      <h2 id="facts-title">Technical data</h2>
      <div class="body">
      \(Self.group("File", file))
      \(pictures.compactMap(\.self).joined())
      \(Self.group("Sound", sound))
      \(Self.group("Subtitles", others(facts.subtitles)))
      \(Self.group("Other tracks", others(facts.data)))
      \(Self.group("Chapters", chapters))
      \(Self.group("Proxy", proxy))
      \(Self.group("Preview", preview))
      </div></section>
      """
  }

  private typealias Row = (name: String, value: String?)

  private static func group(_ title: String, _ rows: [Row]) -> PageMarkup? {
    let lines = rows.compactMap { row in
      row.value.map { "<dt>\(row.name)</dt><dd><bdi>\(breaking: $0)</bdi></dd>" as PageMarkup }
    }
    guard !lines.isEmpty else { return nil }
    return """
      <div class="group"><h3>\(title)</h3><dl class="rows">
      \(lines.joined())
      </dl></div>
      """
  }

  private var file: [Row] {
    let rate = facts.duration.flatMap { duration in
      duration > 0 ? Double(facts.size) * 8 / duration : nil
    }
    return [
      ("Name", facts.fileName),
      ("Container", facts.container.map { PageNames.container($0, of: facts.fileName) }),
      ("Size", PageText.bytes(facts.size)),
      ("Duration", facts.duration.map(PageText.duration) ?? "unknown"),
      ("Bit rate", rate.flatMap { $0 < 1e12 ? PageText.bitRate(Int($0)) : nil }),
      ("Timecode", facts.timecode),
      ("Begins at", facts.startTime.map { "\(PageText.number($0, digits: 3)) s" }),
    ]
  }

  private func picture(_ track: VideoFacts) -> [Row] {
    let shown = (track.displayWidth, track.displayHeight)
    let isStored = shown == (track.width, track.height)
    let aspect = PageText.aspect(shown.0, shown.1).map { " (\($0))" } ?? ""
    let format = [track.bitDepth.map { "\($0) bit" }, track.pixelFormat].compactMap(\.self)
    return [
      ("Codec", PageNames.codec(track.codec, track.profile)),
      ("Size", PageText.size(shown.0, shown.1) + aspect),
      ("Stored as", isStored ? nil : PageText.size(track.width, track.height)),
      ("Pixel shape", track.sampleAspect),
      ("Turned by", track.rotation == 0 ? nil : "\(track.rotation)°"),
      ("Frame rate", frameRate(track)),
      ("Frames", track.frameCount.map(String.init)),
      ("Scan", scan(track)),
      ("Samples", format.isEmpty ? nil : format.joined(separator: ", ")),
      ("Dynamic range", track.hdr.map(PageNames.dynamicRange)),
      ("Primaries", track.colorPrimaries.map(PageNames.color)),
      ("Transfer", track.colorTransfer.map(PageNames.color)),
      ("Matrix", track.colorMatrix.map(PageNames.color)),
      ("Range", track.colorRange.map { $0 == "pc" ? "full" : $0 == "tv" ? "limited" : $0 }),
      ("Alpha", track.hasAlpha ? "yes" : nil),
      ("Bit rate", track.bitRate.map(PageText.bitRate)),
      ("Timecode", track.timecode == facts.timecode ? nil : track.timecode),
      ("Language", track.language),
      ("Title", track.title),
    ]
  }

  private func frameRate(_ track: VideoFacts) -> String? {
    track.frameRate.map {
      PageText.number($0, digits: 3) + " fps" + (track.isVariableFrameRate ? ", variable" : "")
    }
  }

  private func scan(_ track: VideoFacts) -> String? {
    if let order = track.fieldOrder { return PageNames.fieldOrder(order) }
    return track.isInterlaced ? "interlaced" : nil
  }

  private var sound: [Row] {
    facts.audio.enumerated().map { number, track in
      let parts: [String?] = [
        PageNames.codec(track.codec),
        track.layout ?? (track.channels == 1 ? "mono" : "\(track.channels) channels"),
        PageText.sampleRate(track.sampleRate), track.bitRate.map(PageText.bitRate),
        track.language, track.title, track.isInProxy ? "in the proxy" : nil,
      ]
      return ("Track \(number + 1)", parts.compactMap(\.self).joined(separator: " · "))
    }
  }

  private func others(_ tracks: [TrackFacts]) -> [Row] {
    tracks.enumerated().map { number, track in
      let parts = [PageNames.codec(track.codec), track.language, track.title]
      return ("Track \(number + 1)", parts.compactMap(\.self).joined(separator: " · "))
    }
  }

  private var chapters: [Row] {
    facts.chapters.enumerated().map { number, chapter in
      (PageText.duration(chapter.start), chapter.title ?? "Chapter \(number + 1)")
    }
  }

  private var proxy: [Row] {
    guard let proxy = facts.proxy else { return [] }
    return [
      ("Size", "\(PageText.size(proxy.width, proxy.height)), \(PageText.bytes(proxy.size))"),
      ("Changed", proxy.changes.isEmpty ? nil : proxy.changes.joined(separator: ", ")),
      ("Timecode", proxy.hasBurntTimecode ? "burnt in" : nil),
    ]
  }

  private var preview: [Row] {
    [("Made", PageText.moment(facts.madeAt)), ("With", facts.tool)]
  }
}
