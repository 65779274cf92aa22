import HandoffCore
import Paths
import Testing

@Suite("TemporaryNames")
struct TemporaryNamesTests {
  @Test(
    "temporary and side file names are no exports",
    arguments: [
      "c.mp4.part", "c.mp4.filepart", "e.mp4.tmp", "f.mp4.crdownload", "x.mp4.PARTIAL", "y.mkv.!qB",
      ".g.mp4.AbC123", "~h.mp4", "h.mp4~", "._a.mp4", ".DS_Store", "Thumbs.db",
      ".syncthing.a.mp4.tmp", "~syncthing~a.mp4.tmp", "a.mp4.handoff.toml", "a.mp4.handoff.json",
      "notes.txt", "cover.JPG", "sound.wav",
    ]
  )
  func ignores(name: String) {
    #expect(TemporaryNames().reason(for: BytePath(name)) != nil)
  }

  @Test(
    "video names and unknown extensions may be exports",
    arguments: [
      "a.mp4", "a.MOV", "te[s]t_ video ' _ .flv", "gif_animated.gif", "no-extension", "a.xyz",
      "part",
      "a b.m2ts", "\n.mp4", "%.webm", "x.part.mp4", ".handoff.toml.mp4x~y.mp4",
    ].filter { !$0.hasPrefix(".") }
  )
  func admits(name: String) {
    #expect(TemporaryNames().reason(for: BytePath(name)) == nil)
  }

  @Test("a name that is not UTF-8 may be an export")
  func admitsBytes() {
    #expect(TemporaryNames().reason(for: BytePath([0x63, 0xE9, 0x2E, 0x6D, 0x70, 0x34])) == nil)
  }

  @Test("a folder's own patterns are named in the reason")
  func namesPattern() {
    let patterns = [ShellPattern("*.draft.*")]
    let names = TemporaryNames(ignored: patterns)
    let reason = names.reason(for: "a.draft.mp4")
    #expect(reason == "the folder's ignore pattern *.draft.*")
    #expect(names.reason(for: "a.mp4") == nil)
  }

  @Test(
    "system folders are not looked into",
    arguments: [
      ".AppleDouble", ".Trashes", ".sync", "@eaDir", "#recycle", "lost+found",
    ]
  )
  func skipsFolders(name: String) {
    #expect(TemporaryNames().reason(forFolder: BytePath(name)) != nil)
  }

  @Test("a sidecar leads to its export")
  func findsExport() {
    #expect(TemporaryNames.export(ofSidecar: "/d/a.mp4.handoff.toml") == "/d/a.mp4")
    #expect(TemporaryNames.export(ofSidecar: "/d/a.mp4") == nil)
  }
}

@Suite("ShellPattern")
struct ShellPatternTests {
  @Test(
    "matches as fnmatch does",
    arguments: [
      ("*", "anything", true), ("*.mp4", "a.mp4", true), ("*.mp4", "a.mp4x", false),
      ("a?c", "abc", true), ("a?c", "ac", false), ("[a-c]x", "bx", true), ("[!a-c]x", "bx", false),
      ("[]x]", "]", true), ("[abc", "[abc", true), ("a\\*b", "a*b", true), ("a\\*b", "axb", false),
      ("*a*b*c", "xxaxxbxxc", true), ("*a*b*c", "xxaxxcxxb", false), ("", "", true),
      ("", "a", false),
      ("**", "", true), ("[a-]", "-", true),
    ]
  )
  func matches(pattern: String, name: String, expected: Bool) {
    #expect(ShellPattern(pattern).matches(BytePath(name)) == expected)
  }

  @Test(
    "ASCII case does not matter where it is so asked",
    arguments: [
      ("*.!qB", "a.MKV.!QB", true), ("~Sync~*", "~sync~a", true), ("[A-C]x", "bX", true),
      ("A*B?d", "axxbCD", true), ("*.mp4", "mp4", false), ("a*", "", false),
    ]
  )
  func ignoresCase(pattern: String, name: String, expected: Bool) {
    #expect(ShellPattern(pattern, ignoringCase: true).matches(BytePath(name)) == expected)
  }

  @Test("a hostile pattern takes no exponential time", .timeLimit(.minutes(1)))
  func staysPolynomial() {
    let pattern = ShellPattern(String(repeating: "*a", count: 60) + "b")
    #expect(!pattern.matches(BytePath(String(repeating: "a", count: 255))))
  }
}
