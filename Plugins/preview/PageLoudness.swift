/// The loudness of the sound beside what broadcasters and streaming services ask for.
struct PageLoudness {
  /// What somebody asks for.
  private struct Target {
    let name: String
    /// LUFS.
    let level: Double
    /// LU to either side.
    let tolerance: Double
  }

  private static let targets = [
    Target(name: "EBU R 128", level: -23, tolerance: 0.5),
    Target(name: "ATSC A/85", level: -24, tolerance: 2),
    Target(name: "Streaming", level: -14, tolerance: 1),
  ]
  /// dBTP: what EBU R 128 and the streaming services allow at most.
  private static let highestPeak = -1.0
  /// LUFS at the left end of the scale; 0 is at its right end.
  private static let quietest = -48.0
  private static let width = 300.0

  let loudness: LoudnessFacts

  init?(loudness: LoudnessFacts?) {
    guard let loudness else { return nil }
    self.loudness = loudness
  }

  var markup: PageMarkup {
    """
    <section class="panel" aria-labelledby="loudness-title">
    <h2 id="loudness-title">Loudness</h2>
    <div class="body">
    \(loudness.integrated.map(meter))
    <dl class="rows">\(rows)</dl>
    \(loudness.integrated.map(table))
    </div></section>
    """
  }

  private var rows: PageMarkup {
    var rows: [PageMarkup] = []
    let integrated = loudness.integrated.map { "\(PageText.level($0)) LUFS" }
    let none = loudness.isSilent ? "silence" : "too short or too quiet to be measured"
    rows.append("<dt>Integrated</dt><dd>\(integrated ?? none)</dd>")
    if let range = loudness.range {
      rows.append("<dt>Range</dt><dd>\(PageText.level(range)) LU</dd>")
    }
    if let peak = loudness.truePeak {
      rows.append("<dt>True peak</dt><dd>\(PageText.level(peak)) dBTP</dd>")
    }
    rows.append("<dt>Measured</dt><dd>\(loudness.of)</dd>")
    return rows.joined()
  }

  private func table(_ integrated: Double) -> PageMarkup {
    var rows = Self.targets.map { target in
      let difference = integrated - target.level
      let isMet = abs(difference) <= target.tolerance + 0.05
      let amount = PageText.level(abs(difference))
      return Self.row(
        "\(target.name) (\(PageText.number(target.level, digits: 0)) LUFS)",
        isMet ? "met" : "\(amount) LU too \(difference > 0 ? "loud" : "quiet")",
        isMet ? "good" : "warning"
      )
    }
    if let peak = loudness.truePeak {
      let isMet = peak <= Self.highestPeak + 0.05
      let over = PageText.level(peak - Self.highestPeak)
      let tone = isMet ? "good" : "warning"
      rows.append(Self.row("Peak (−1 dBTP)", isMet ? "met" : "\(over) dB over", tone))
    }
    return """
      <table class="targets"><caption class="unseen">Beside usual targets</caption>
      \(rows.joined())</table>
      """
  }

  private static func row(_ name: String, _ verdict: String, _ tone: String) -> PageMarkup {
    "<tr><th scope=\"row\">\(name)</th><td class=\"\(tone)\">\(verdict)</td></tr>"
  }

  /// A scale with the measured level and the two targets that most people have in mind.
  private func meter(_ integrated: Double) -> PageMarkup {
    func x(_ level: Double) -> String {
      let part = 1 - max(Self.quietest, min(0, level)) / Self.quietest
      return String(Int((part * Self.width).rounded()))
    }
    let lines = [Self.targets[0], Self.targets[2]].map { target in
      """
      <line class="target" x1="\(x(target.level))" x2="\(x(target.level))" y1="14" y2="32"/>
      <text x="\(x(target.level))" y="10" text-anchor="middle">\
      \(PageText.number(target.level, digits: 0))</text>
      """ as PageMarkup
    }
    return """
      <svg class="meter" viewBox="0 0 \(Int(Self.width)) 34" role="img"
      aria-label="\(PageText.level(integrated)) LUFS on a scale from −48 to 0">
      <rect class="rail" width="\(Int(Self.width))" height="8" y="19" rx="4"/>
      <rect class="value" width="\(x(integrated))" height="8" y="19" rx="4"/>
      \(lines.joined())</svg>
      """
  }
}
