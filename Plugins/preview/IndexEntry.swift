/// What the index page shows of one preview.
struct IndexEntry: Sendable, Hashable, Codable {
  /// The name of the preview's folder: the asset's UUID.
  let folder: String
  let title: String
  let fileName: String
  let sha256: String
  /// Bytes.
  let size: Int64
  /// RFC 3339, UTC.
  let madeAt: String
  /// Seconds; nil where nobody knows.
  let duration: Double?
  /// Pixels, upright; nil where there is no picture track.
  let width: Int?
  let height: Int?
  /// Frames a second.
  let frameRate: Double?
  /// For people.
  let codec: String?
  let poster: PictureFile
  let badges: [PageBadge]
  /// Problems and warnings.
  let findings: Int

  /// Takes it from a preview's facts.
  init(folder: String, _ facts: PreviewFacts) {
    let picture = facts.video.first
    self.folder = folder
    title = facts.title
    fileName = facts.fileName
    sha256 = facts.sha256
    size = facts.size
    madeAt = facts.madeAt
    duration = facts.duration
    width = picture?.displayWidth
    height = picture?.displayHeight
    frameRate = picture?.frameRate
    codec = picture.map { PageNames.codec($0.codec) }
    poster = facts.poster
    badges = PageBadge.all(of: facts)
    findings = facts.findings.count { $0.severity != .info }
  }

  /// The card; scripts search, sort and filter by its data attributes.
  var markup: PageMarkup {
    let address = PageMarkup.address(folder)
    let badges = badges.map(\.markup).joined()
    let kinds = self.badges.map(\.kind.rawValue).joined(separator: " ")
    let search = [title, fileName, codec ?? "", folder, sha256].joined(separator: " ")
    return """
      <li class="card" data-search="\(search)" data-title="\(title)" data-made="\(madeAt)"
      data-duration="\(PageText.number(duration ?? 0, digits: 3))" data-size="\(size)"
      data-findings="\(findings)" data-kinds="\(kinds)"><a href="\(address)/\(Preview.page)">
      <span class="thumb"><img src="\(address)/\(picture)" loading="lazy" decoding="async"
      width="\(poster.width)" height="\(poster.height)" alt="">\(length)</span>
      <span class="name"><bdi>\(breaking: title)</bdi></span></a>
      <p>\(about)</p>
      <p class="made"><time datetime="\(madeAt)">\(PageText.moment(madeAt))</time></p>
      <ul class="badges" aria-label="Special">\(badges)</ul></li>
      """
  }

  /// Without the `./` of a whole relative address.
  private var picture: String { String(PageMarkup.address(poster.name).dropFirst(2)) }

  private var length: PageMarkup? {
    duration.map { "<span class=\"length\">\(PageText.shortDuration($0))</span>" }
  }

  private var about: String {
    var parts: [String] = []
    if let width, let height { parts.append(PageText.size(width, height)) }
    if let frameRate { parts.append("\(PageText.number(frameRate, digits: 2)) fps") }
    if let codec { parts.append(codec) }
    parts.append(PageText.bytes(size))
    // A quantity stays with its unit when the line is broken.
    return parts.map { $0.replacing(" ", with: "\u{A0}") }.joined(separator: " · ")
  }
}
