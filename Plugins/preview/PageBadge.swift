/// What is special about a video, in a word or two.
struct PageBadge: Sendable, Hashable, Codable {
  /// The index page filters by it.
  enum Kind: String, Sendable, Hashable, Codable, CaseIterable {
    case problem, warning, hdr, vertical, silent, interlaced, stills
  }

  let kind: Kind
  let text: String

  /// The badge; the kind is the class that colours it.
  var markup: PageMarkup {
    let tone =
      switch kind {
      case .problem: "problem"
      case .warning: "warning"
      case .hdr: "info"
      case .vertical, .silent, .interlaced, .stills: "plain"
      }
    return "<li class=\"badge \(tone)\">\(text)</li>"
  }

  /// Those of a preview, the gravest first.
  static func all(of facts: PreviewFacts) -> [PageBadge] {
    var badges: [PageBadge] = []
    func count(_ severity: Finding.Severity) -> Int {
      facts.findings.count { $0.severity == severity }
    }
    let (problems, warnings) = (count(.problem), count(.warning))
    if problems > 0 { badges.append(PageBadge(.problem, problems, "problem")) }
    if warnings > 0 { badges.append(PageBadge(.warning, warnings, "warning")) }
    if let picture = facts.video.first {
      if let range = picture.hdr {
        badges.append(PageBadge(kind: .hdr, text: PageNames.dynamicRange(range)))
      }
      // A little higher than wide is a square to most people.
      if Double(picture.displayHeight) >= Double(picture.displayWidth) * 1.2 {
        badges.append(PageBadge(kind: .vertical, text: "Vertical"))
      }
      if picture.isInterlaced { badges.append(PageBadge(kind: .interlaced, text: "Interlaced")) }
    }
    if facts.audio.isEmpty {
      badges.append(PageBadge(kind: .silent, text: "No sound"))
    } else if facts.loudness?.isSilent == true {
      badges.append(PageBadge(kind: .silent, text: "Silent"))
    }
    if facts.proxy == nil { badges.append(PageBadge(kind: .stills, text: "Stills only")) }
    return badges
  }
}

extension PageBadge {
  private init(_ kind: Kind, _ count: Int, _ word: String) {
    self.init(kind: kind, text: "\(count) \(word)\(count == 1 ? "" : "s")")
  }
}
