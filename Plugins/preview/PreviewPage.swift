import FoundationEssentials

/// The review page of one preview: everything is in it but the pictures and the proxy beside it.
struct PreviewPage {
  let facts: PreviewFacts

  /// The document.
  func html() throws -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    let json = PageMarkup.inScript(json: try encoder.encode(facts))
    return try PageShell(
      title: facts.title,
      style: [PageStyle.base, PageStyle.review, PageStyle.player, ratios],
      script: [
        PageScript.clock, PageScript.screen, PageScript.timeline, PageScript.controls,
        PageScript.keys,
      ],
      body: """
        <a class="skip" href="#main">Skip to the video</a>
        <header class="top"><div class="wrap">
        <a class="button plain" href="../\(IndexPage.file)">\(PageIcon.arrow.drawing) All previews</a>
        </div></header>
        <div class="wrap">
        \(head)
        <main id="main" class="columns">
        <div>
        \(PagePlayer(facts: facts).markup)
        \(PageFindings(findings: facts.findings).markup)
        \(sheet)
        </div>
        <aside aria-label="Technical data">
        \(PageLoudness(loudness: facts.loudness)?.markup)
        \(PageFacts(facts: facts).markup)
        \(PageFiles(facts: facts).markup)
        </aside>
        </main>
        </div>
        <script type="application/json" id="facts">\(json)</script>
        """
    ).html()
  }

  /// The shapes of the picture and of the storyboard's tiles, which no attribute may say: the policy
  /// forbids style attributes.
  private var ratios: String {
    let picture =
      facts.proxy.map { ($0.width, $0.height) } ?? (facts.poster.width, facts.poster.height)
    let tile = facts.storyboard.map { ($0.tileWidth, $0.tileHeight) } ?? picture
    func ratio(_ size: (Int, Int)) -> String {
      PageText.number(Double(max(1, size.0)) / Double(max(1, size.1)), digits: 5)
    }
    return ":root { --ratio: \(ratio(picture)); --tile-ratio: \(ratio(tile)) }"
  }

  private var head: PageMarkup {
    let badges = PageBadge.all(of: facts).map(\.markup).joined()
    var items: [PageMarkup] = []
    if !facts.fileName.hasPrefix(facts.title) { items.append("<bdi>\(facts.fileName)</bdi>") }
    if let duration = facts.duration { items.append("\(PageText.duration(duration))") }
    if let picture = facts.video.first {
      items.append("\(PageText.size(picture.displayWidth, picture.displayHeight))")
      if let rate = picture.frameRate { items.append("\(PageText.number(rate, digits: 2)) fps") }
      items.append("\(PageNames.codec(picture.codec, picture.profile))")
    }
    items.append("\(PageText.bytes(facts.size))")
    let list = items.map { "<li class=\"name\">\($0)</li>" as PageMarkup }.joined()
    return """
      <div class="head">
      <h1><bdi>\(breaking: facts.title)</bdi></h1>
      <ul class="facts" aria-label="In short">\(list)</ul>
      <ul class="badges" aria-label="Special">\(badges)</ul>
      </div>
      """
  }

  private var sheet: PageMarkup {
    let picture = facts.contactSheet
    let address = PageMarkup.address(picture.name)
    return """
      <section class="panel" aria-labelledby="sheet-title">
      <h2 id="sheet-title">Contact sheet</h2>
      <a class="sheet" href="\(address)"><img src="\(address)" width="\(picture.width)"
      height="\(picture.height)" loading="lazy" alt="Pictures from the whole video; open in full size"></a>
      </section>
      """
  }
}
