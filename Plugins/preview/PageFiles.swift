/// The checksum, and the files beside the page.
struct PageFiles {
  let facts: PreviewFacts

  var markup: PageMarkup {
    """
    <section class="panel" aria-labelledby="files-title">
    <h2 id="files-title">Checksum and files</h2>
    <div class="body">
    <div class="digest"><h3>SHA-256 of the original</h3><code id="digest">\(facts.sha256)</code>
    <button type="button" class="button" id="copy" hidden>\(PageIcon.copy.drawing)
    <span id="copied" role="status">Copy</span></button></div>
    <div class="digest"><h3>Local identifier</h3><code>\(facts.localIdentifier)</code></div>
    <div class="links">
    \(facts.proxy.map { link("Proxy", $0.name, $0.size) })
    \(link("Poster", facts.poster.name, facts.poster.size))
    \(link("Contact sheet", facts.contactSheet.name, facts.contactSheet.size))
    \(link("All data", PreviewFacts.file, nil))
    </div></div></section>
    """
  }

  private func link(_ title: String, _ name: String, _ size: Int64?) -> PageMarkup {
    """
    <a class="button" href="\(PageMarkup.address(name))" download>\(PageIcon.down.drawing) \(title)
    <small>\(size.map(PageText.bytes) ?? "")</small></a>
    """
  }
}
