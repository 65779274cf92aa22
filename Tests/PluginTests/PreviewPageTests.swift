import Digests
import FoundationEssentials
import HandoffProtocol
import HandoffTestSupport
import Testing

@testable import handoff_preview

@Suite("review page")
struct PreviewPageTests {
  private static let hostile =
    #"</script><script>alert(1)</script><!-- "x" 'y' &amp; `$` \u{2028}"#
    + "\u{2028}\u{2029}\u{0}\u{202E}"

  private static func facts(_ text: String) -> PreviewFacts {
    let digest = known(ContentDigest([UInt8](repeating: 7, count: 32)))
    var facts = PreviewFacts.sample(LocalIdentifier(digest), title: text, fileName: text)
    facts.poster.name = text
    facts.container = text
    facts.timecode = text
    facts.video[0].codec = text
    facts.video[0].title = text
    facts.findings[0].text = text
    facts.chapters = [ChapterFacts(title: text, start: 0, end: 1)]
    return facts
  }

  @Test(
    "text never becomes markup",
    arguments: [
      ("<b>", "&lt;b&gt;"), ("\" onload='x'", "&quot; onload=&#39;x&#39;"), ("&lt;", "&amp;lt;"),
      ("a\u{0}b\u{1B}c\u{85}", "a\u{FFFD}b\u{FFFD}c\u{FFFD}"), ("ü\t\n🎬", "ü\t\n🎬"),
    ]
  )
  func escaping(text: String, escaped: String) {
    #expect("<i>\(text)</i>" as PageMarkup == PageMarkup(verbatim: "<i>\(escaped)</i>"))
  }

  @Test(
    "a name is one step of an address",
    arguments: [
      ("poster.jpg", "./poster.jpg"), ("a b#c?d%.mp4", "./a%20b%23c%3Fd%25.mp4"),
      ("../../etc", "./..%2F..%2Fetc"), ("javascript:alert(1)", "./javascript%3Aalert%281%29"),
      ("ü\"<", "./%C3%BC%22%3C"),
    ]
  )
  func addresses(name: String, address: String) {
    #expect(PageMarkup.address(name) == address)
  }

  @Test("hostile titles and names are text everywhere, and the data is what it was")
  func hostileFacts() throws {
    let facts = Self.facts(Self.hostile)
    let html = try PreviewPage(facts: facts).html()
    let pieces = html.split(separator: "<script", omittingEmptySubsequences: false)
    // The data and the script, each ended by the only end tag after it.
    #expect(pieces.count == 3)
    #expect(html.split(separator: "</script", omittingEmptySubsequences: false).count == 3)
    #expect(html.firstRange(of: "<!--") == nil)
    #expect(html.firstRange(of: "alert(1)<") == nil)
    let start = try #require(pieces[1].firstRange(of: #"id="facts">"#)).upperBound
    let end = try #require(pieces[1].firstRange(of: "</script>")).lowerBound
    let json = pieces[1][start..<end]
    #expect(!json.contains { "<>&\u{2028}\u{2029}".contains($0) })
    let read = try JSONDecoder().decode(PreviewFacts.self, from: Data(json.utf8))
    #expect(read == facts)
  }

  @Test("the policy allows this script and this style, and no connection")
  func policy() throws {
    let html = try PreviewPage(facts: Self.facts("Clip")).html()
    func inner(_ tag: String) throws -> String {
      let start = try #require(html.ranges(of: "<\(tag)>").last).upperBound
      let rest = html[start...]
      return String(rest[..<(try #require(rest.firstRange(of: "</\(tag)>")).lowerBound)])
    }
    for tag in ["script", "style"] {
      let digest = Data(try SHA256.digest(of: Array(try inner(tag).utf8))).base64EncodedString()
      #expect(html.contains("\(tag)-src 'sha256-\(digest)'"))
    }
    #expect(html.contains("default-src 'none'"))
    #expect(!html.contains("unsafe-"))
    #expect(!html.contains(" style="))
    let addresses = html.replacing("http://www.w3.org/2000/svg", with: "")
    #expect(addresses.firstRange(of: "http:") == nil)
    #expect(addresses.firstRange(of: "https:") == nil)
  }

  @Test(
    "quantities are written for people",
    arguments: [
      (PageText.duration(0.04), "0:00.04"), (PageText.duration(3723.5), "1:02:03.50"),
      (PageText.duration(.infinity), "unknown"), (PageText.shortDuration(0.04), "0:01"),
      (PageText.bytes(999), "999 bytes"), (PageText.bytes(1000), "1 kB"),
      (PageText.bytes(999_999), "1 MB"), (PageText.bytes(1_254_000_000), "1.25 GB"),
      (PageText.bitRate(12_340_000), "12.3 Mb/s"), (PageText.sampleRate(44100), "44.1 kHz"),
      (PageText.number(29.97003, digits: 3), "29.97"), (PageText.number(-0.04, digits: 1), "0"),
      (PageText.level(-23), "−23.0"), (PageText.number(.nan, digits: 1), "unknown"),
      (PageText.aspect(1920, 1080), "16:9"), (PageText.aspect(406, 720), "9:16"),
      (PageText.aspect(2048, 858), "2.39:1"),
    ] as [(String?, String)]
  )
  func quantities(written: String?, expected: String) {
    #expect(written == expected)
  }
}
