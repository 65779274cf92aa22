/// The player: a video that works without scripts, and what the script brings to life around it.
struct PagePlayer {
  let facts: PreviewFacts

  var markup: PageMarkup {
    """
    <section class="player" id="player" aria-label="Player">
    <div class="stage" id="stage"><div class="picture" id="picture">
    \(picture)
    <div class="guides" id="guides"></div>
    \(notice)
    </div></div>
    \(strip)
    \(bar)
    </section>
    \(help)
    """
  }

  private var hasTime: Bool { facts.proxy != nil || facts.storyboard != nil }

  private var picture: PageMarkup {
    let poster = PageMarkup.address(facts.poster.name)
    guard let proxy = facts.proxy else {
      return """
        <img src="\(poster)" width="\(facts.poster.width)" height="\(facts.poster.height)"
        alt="A picture from the video">
        <div class="tile" id="still" role="img" aria-label="The picture at this time" hidden></div>
        """
    }
    return """
      <video id="video" controls playsinline preload="metadata" poster="\(poster)"
      width="\(proxy.width)" height="\(proxy.height)" aria-label="The proxy of the video"
      src="\(PageMarkup.address(proxy.name))"></video>
      <div class="tile" id="still" hidden></div>
      """
  }

  private var notice: PageMarkup? {
    if facts.proxy != nil { return "<p class=\"notice\" id=\"notice\" role=\"status\" hidden></p>" }
    let text =
      facts.storyboard == nil
      ? "There is no proxy: the poster only."
      : "There is no proxy: drag on the timeline to look through it."
    return "<p class=\"notice\" id=\"notice\" role=\"status\">\(text)</p>"
  }

  /// The timeline, with the sound's shape where there is sound.
  private var strip: PageMarkup? {
    guard hasTime else { return nil }
    let wave = facts.waveform.map {
      "<img src=\"\(PageMarkup.address($0.name))\" alt=\"\" draggable=\"false\">" as PageMarkup
    }
    return """
      <div class="strip\(wave == nil ? " quiet" : "")" id="strip" role="slider" tabindex="0"
      aria-label="Position" aria-valuemin="0" aria-valuenow="0" hidden>
      <div class="marks" id="marks" aria-hidden="true"></div>
      <div class="rail" id="rail">\(wave)<div class="done" id="done"></div></div>
      <div class="hover-line" id="hover" hidden></div>
      <div class="head-line" id="playhead"></div>
      <div class="peek" id="peek" aria-hidden="true" hidden>
      <div class="tile" id="peek-tile"></div><p id="peek-time"></p><p id="peek-finding" hidden></p>
      </div></div>
      """
  }

  private var bar: PageMarkup? {
    guard hasTime else { return nil }
    let hasSound = facts.proxy?.hasAudio == true
    let play: PageMarkup? = facts.proxy.map { _ in
      Self.key("play", "Play", "Space", .play, other: .pause)
    }
    let sound: PageMarkup? = facts.proxy.map { _ in
      """
      \(Self.key("mute", hasSound ? "Mute" : "No sound", "M", hasSound ? .sound : .muted, other: .muted, isOff: !hasSound))
      <input type="range" id="volume" min="0" max="1" step="0.05" value="1" aria-label="Volume"\
      \(hasSound ? "" : " disabled")>
      """
    }
    return """
      <div class="bar" id="bar" hidden>
      <div class="group">
      \(Self.key("back", "One frame back", ",", .back))
      \(play)
      \(Self.key("forward", "One frame forward", ".", .forward))
      </div>
      <div class="clock"><output id="clock" aria-label="Time" aria-live="off">0:00</output>
      <span id="count"></span></div>
      <span class="badge" id="speed" hidden></span>
      <div class="group">
      \(sound)
      <select id="guide" aria-label="Guides over the picture">
      <option value="">No guides</option>
      <option value="safe">Safe areas</option>
      <option value="16:9">16:9</option><option value="9:16">9:16</option>
      <option value="1:1">1:1</option><option value="4:5">4:5</option>
      <option value="2.39:1">2.39:1</option>
      </select>
      \(Self.key("help", "Keyboard", "?", .keyboard))
      \(Self.key("whole", "Full screen", "F", .whole))
      </div></div>
      """
  }

  private static func key(
    _ id: String,
    _ label: String,
    _ shortcut: String,
    _ icon: PageIcon,
    other: PageIcon? = nil,
    isOff: Bool = false
  ) -> PageMarkup {
    """
    <button type="button" class="key" id="\(id)" aria-label="\(label)" data-other="\(other?.rawValue ?? "")"
    title="\(label) (\(shortcut))"\(isOff ? " disabled" : "")>\(icon.drawing)</button>
    """
  }

  private var help: PageMarkup? {
    guard hasTime else { return nil }
    let keys = [
      ("Space, K", "play and pause"), ("J, L", "play backwards and forwards; again: faster"),
      (", and .", "one frame back and forward"), ("← →", "one second; with Shift ten"),
      ("↑ ↓", "finding before and after"), ("Home, End", "beginning and end"),
      ("M", "sound off and on"), ("F", "full screen"), ("?", "this list"),
    ]
    let rows = keys.map { "<dt><kbd>\($0)</kbd></dt><dd>\($1)</dd>" as PageMarkup }.joined()
    return """
      <dialog id="keys" aria-labelledby="keys-title"><h2 id="keys-title">Keyboard</h2>
      <dl class="rows">\(rows)</dl>
      <form method="dialog"><button class="button">Close</button></form></dialog>
      """
  }
}
