import FoundationEssentials
import Paths
import Testing

@Suite("Byte path")
struct BytePathTests {
  private let latin1 = BytePath(Array("/a/".utf8) + [0xE9, 0x2E, 0x4D, 0x50, 0x34])

  @Test("names that differ only in normalisation are two paths")
  func normalisation() {
    let composed: BytePath = "caf\u{E9}.mp4"
    let decomposed: BytePath = "cafe\u{301}.mp4"
    #expect("caf\u{E9}.mp4" == "cafe\u{301}.mp4", "String merges them")
    #expect(composed != decomposed)
    #expect(Set([composed, decomposed]).count == 2)
  }

  @Test("bytes that are not UTF-8 are kept")
  func notUTF8() {
    #expect(latin1.exactText == nil)
    #expect(latin1.lossyText == "/a/\u{FFFD}.MP4")
    #expect(latin1.displayText == "/a/\\xe9.MP4")
    #expect(latin1.lastComponent.bytes == [0xE9, 0x2E, 0x4D, 0x50, 0x34])
    #expect(latin1.stem.bytes == [0xE9])
    #expect(latin1.lowercasedExtension == Array("mp4".utf8))
    #expect(latin1.nulTerminated.count == latin1.bytes.count + 1)
  }

  @Test(
    "a plain path says where it leads without `.`, `..` and empty parts",
    arguments: [
      ("/a/b", true, "/a/b"), ("/a/./b", false, "/a/b"), ("/a//b", false, "/a/b"),
      ("/a/b/", false, "/a/b"), ("/a/../b", false, "/a/../b"), ("a/b", false, "a/b"),
      ("./a", false, "a"), ("/", false, "/"), ("/a/.b/..c", true, "/a/.b/..c"),
    ]
  )
  func plain(_ path: BytePath, isPlain: Bool, tidied: BytePath) {
    #expect(path.isPlain == isPlain)
    #expect(path.tidied == tidied)
  }

  @Test("a path ends before a NUL, as for the kernel")
  func nul() {
    #expect(BytePath([0x61, 0, 0x62]) == "a")
  }

  @Test(
    "the parent and the last part",
    arguments: [
      ("/a/b", "/a", "b"), ("/a/b/", "/a", "b"), ("/a", "/", "a"), ("/", "/", ""), ("a", "", "a"),
      ("a/b", "a", "b"), ("a//b", "a", "b"), ("//a", "/", "a"), ("", "", ""), ("/a/..", "/a", ".."),
    ]
  )
  func parts(path: String, parent: String, last: String) {
    #expect(BytePath(path).parent == BytePath(parent))
    #expect(BytePath(path).lastComponent == BytePath(last))
  }

  @Test(
    "the stem and the extension",
    arguments: [
      ("clip.mp4", "clip", "mp4"), ("a/clip.final.MP4", "clip.final", "mp4"), (".x", ".x", ""),
      ("clip", "clip", ""), ("clip.", "clip", ""), ("/", "", ""), ("a.b/c", "c", ""),
    ]
  )
  func stems(path: String, stem: String, suffix: String) {
    #expect(BytePath(path).stem == BytePath(stem))
    #expect(BytePath(path).lowercasedExtension == Array(suffix.utf8))
  }

  @Test(
    "appending",
    arguments: [
      ("/a", "b", "/a/b"), ("/a/", "b", "/a/b"), ("/", "b", "/b"), ("", "b", "b"), ("/a", "", "/a"),
      ("/a", "/b", "/b"), ("a", "b/c", "a/b/c"),
    ]
  )
  func appending(path: String, other: String, expected: String) {
    #expect(BytePath(path).appending(BytePath(other)) == BytePath(expected))
    #expect(BytePath(path).appending(other) == BytePath(expected))
  }

  @Test(
    "relative paths",
    arguments: [
      ("/a/b", "/a", "b"), ("/a/b/c", "/a/", "b/c"), ("/a", "/", "a"), ("/a//b", "/a", "b"),
      ("/a", "/a", nil), ("/a/", "/a", nil), ("/ab", "/a", nil), ("/a", "/a/b", nil),
      ("/a", "", nil),
      ("a/b", "a", "b"), ("/", "/", nil),
    ]
  )
  func relative(path: String, folder: String, expected: String?) {
    #expect(BytePath(path).relative(to: BytePath(folder)) == expected.map { BytePath($0) })
  }

  @Test(
    "inside",
    arguments: [
      ("/a/b", "/a", true), ("/a", "/a", true), ("/a/", "/a", true), ("/a", "/a/", true),
      ("/ab", "/a", false), ("/a", "/a/b", false), ("/a", "/", true), ("/", "/", true),
      ("/", "/a", false),
    ]
  )
  func inside(path: String, folder: String, expected: Bool) {
    #expect(BytePath(path).isInside(BytePath(folder)) == expected)
  }

  @Test("parts and order go by bytes")
  func components() {
    #expect(BytePath("/a//b/c/").components == ["a", "b", "c"])
    #expect(BytePath("a") < BytePath("b"))
    #expect(BytePath("Z") < BytePath("a"))
    #expect(BytePath("a").addingSuffix(".part") == "a.part")
    #expect(BytePath("/a").isAbsolute && !BytePath("a").isAbsolute && BytePath("").isEmpty)
  }

  @Test(
    "what could deceive on a terminal is written out",
    arguments: [
      ("a b", "a b"), ("a\nb", "a\\x0ab"), ("a\u{1B}[31mb", "a\\x1b[31mb"), ("a\\b", "a\\\\b"),
      ("a\u{202E}b", "a\\u{202e}b"), ("a\u{2028}b", "a\\u{2028}b"), ("a\u{7F}", "a\\x7f"),
      ("ü漢", "ü漢"),
      ("a\u{200B}b", "a\\u{200b}b"), ("te[s]t_ video ' _ .flv", "te[s]t_ video ' _ .flv"),
    ]
  )
  func display(path: String, shown: String) {
    #expect(BytePath(path).displayText == shown)
    #expect("\(BytePath(path))" == shown)
  }

  @Test("a path comes through JSON byte for byte")
  func codable() throws {
    let paths = [latin1, "caf\u{E9}", "cafe\u{301}", "a\nb", "", "/", BytePath([UInt8](1...255))]
    let decoded = try JSONDecoder().decode([BytePath].self, from: JSONEncoder().encode(paths))
    #expect(decoded == paths)
    let text = String(decoding: try JSONEncoder().encode(["p": BytePath("a")]), as: UTF8.self)
    #expect(text == "{\"p\":\"a\"}")
  }

  @Test(
    "JSON that is no path is refused",
    arguments: ["1", "{}", "[256]", "[-1]", "[\"a\"]", "null"]
  )
  func notCodable(json: String) {
    #expect(throws: DecodingError.self) {
      try JSONDecoder().decode([BytePath].self, from: Data("[\(json)]".utf8))
    }
  }

  @Test(
    "a path and the folders above it, the deepest first",
    arguments: [
      ("/a/b/c", ["/a/b/c", "/a/b", "/a"]), ("/a", ["/a"]), ("a/b", ["a/b", "a"]), ("/", ["/"]),
    ]
  )
  func ancestors(path: String, all: [String]) {
    #expect(BytePath(path).selfAndAncestors.map(\.lossyText) == all)
  }

  @Test("a path is in one of many folders by whole names, not by bytes")
  func insideAny() {
    let folders: Set<BytePath> = ["/d/x", "/e"]
    #expect(BytePath("/d/x/y/z").isInside(anyOf: folders))
    #expect(BytePath("/e").isInside(anyOf: folders))
    #expect(!BytePath("/d/xy").isInside(anyOf: folders))
    #expect(!BytePath("/d/x").isInside(anyOf: []))
  }
}
