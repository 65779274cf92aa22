/// What a person may want to know before the video is published, with links to the moments.
struct PageFindings {
  let findings: [Finding]

  var markup: PageMarkup {
    guard !findings.isEmpty else {
      return """
        <section class="panel" aria-labelledby="findings-title">
        <h2 id="findings-title">Findings</h2>
        <p class="none">Nothing stands out.</p>
        </section>
        """
    }
    return """
      <section class="panel" aria-labelledby="findings-title">
      <h2 id="findings-title">Findings <span class="badge">\(findings.count)</span></h2>
      <ol class="findings" id="findings">
      \(findings.enumerated().map(Self.row).joined())
      </ol>
      </section>
      """
  }

  private static func row(_ number: Int, _ finding: Finding) -> PageMarkup {
    let grade = PageNames.severity(finding.severity)
    return """
      <li data-finding="\(number)"><span class="mark \(finding.severity.rawValue)"></span>
      <p><strong>\(PageNames.finding(finding.kind))</strong>
      <span class="grade">\(grade)</span><br>\(finding.text)</p>
      \(moment(finding))</li>
      """
  }

  /// The script turns the seconds into the timecode.
  private static func moment(_ finding: Finding) -> PageMarkup? {
    guard let start = finding.start else { return nil }
    let at = PageText.number(start, digits: 3)
    return """
      <a class="button moment" href="#t=\(at)" data-at="\(at)"
      aria-label="Go to \(PageText.duration(start)), \(PageNames.finding(finding.kind))">\
      \(PageText.duration(start))</a>
      """
  }
}
