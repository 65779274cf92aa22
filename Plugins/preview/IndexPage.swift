/// The page over all previews of a folder.
struct IndexPage {
  static let file = "index.html"
  /// By this the next rebuild knows that the file is its own to replace.
  static let mark = #"<meta name="generator" content="handoff-preview index">"#

  /// The newest first.
  let entries: [IndexEntry]

  /// The document.
  func html() throws -> String {
    try PageShell(
      title: "Previews",
      head: PageMarkup(verbatim: Self.mark),
      style: [PageStyle.base, IndexStyle.grid],
      script: [IndexScript.library],
      body: """
        <a class="skip" href="#cards">Skip to the previews</a>
        <header class="top"><div class="wrap">
        <h1>Previews</h1><p class="count" id="count" role="status">\(counted)</p>
        </div></header>
        <div class="wrap">
        \(tools)
        <main>
        <h2 class="unseen">All previews</h2>
        <ol class="cards" id="cards">
        \(entries.map(\.markup).joined())
        </ol>
        <p class="empty" id="empty"\(entries.isEmpty ? "" : " hidden")>\(emptiness)</p>
        </main>
        <footer>\(total)</footer>
        </div>
        """
    ).html()
  }

  private var counted: String {
    entries.count == 1 ? "1 video" : "\(entries.count) videos"
  }

  private var emptiness: String {
    entries.isEmpty ? "There is no preview yet." : "Nothing matches."
  }

  private var total: String {
    let seconds = entries.reduce(0) { $0 + ($1.duration ?? 0) }
    let bytes = entries.reduce(Int64(0)) { $0.addingReportingOverflow($1.size).partialValue }
    guard !entries.isEmpty else { return "" }
    return "\(counted), \(PageText.duration(seconds.rounded())) in all, \(PageText.bytes(bytes))"
  }

  /// Shown by the script, which they are for.
  private var tools: PageMarkup? {
    guard !entries.isEmpty else { return nil }
    return """
      <form class="tools" id="tools" role="search" hidden>
      <label class="search">\(PageIcon.find.drawing)<span class="unseen">Search</span>
      <input type="search" id="search" placeholder="Search title, file, codec, checksum"
      autocomplete="off" spellcheck="false"></label>
      <label class="sort"><span>Sort</span> <select id="sort">
      <option value="newest">Newest first</option><option value="oldest">Oldest first</option>
      <option value="title">Title</option><option value="longest">Longest</option>
      <option value="shortest">Shortest</option><option value="largest">Largest</option>
      <option value="findings">Most findings</option>
      </select></label>
      <fieldset class="filters"><legend class="unseen">Only those with</legend>
      \(filters)
      </fieldset>
      </form>
      """
  }

  private static let filterNames: [(PageBadge.Kind, String)] = [
    (.problem, "Problems"), (.warning, "Warnings"), (.hdr, "HDR"), (.vertical, "Vertical"),
    (.silent, "No sound"), (.interlaced, "Interlaced"), (.stills, "Stills only"),
  ]

  /// Only those that some preview meets.
  private var filters: PageMarkup {
    let counts = Dictionary(entries.flatMap(\.badges).map { ($0.kind, 1) }, uniquingKeysWith: +)
    return Self.filterNames.compactMap { kind, name in
      counts[kind].map { count -> PageMarkup in
        """
        <label class="filter"><input type="checkbox" value="\(kind.rawValue)"><span>\(name)
        <small>\(count)</small></span></label>
        """
      }
    }.joined()
  }
}
