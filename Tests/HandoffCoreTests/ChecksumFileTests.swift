import HandoffCore
import HandoffProtocol
import Paths
import Testing

@Suite("Checksum files")
struct ChecksumFileTests {
  private static let md5 = "d41d8cd98f00b204e9800998ecf8427e"
  private static let other = "900150983cd24fb0d6963f7d28e17f72"
  private static let sha256 = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

  private func digest(
    _ text: String,
    of name: BytePath = "a.mp4",
    _ algorithm: ContentChecksum.Algorithm = .md5
  ) throws -> String {
    try ChecksumFile.checksum(in: Array(text.utf8), of: name, algorithm).hex
  }

  @Test(
    "every form of md5sum(1) and of other tools is read",
    arguments: [
      "\(md5)\n", md5, "\(md5)  a.mp4\n", "\(md5) *a.mp4\r\n", "\(md5)  /some/where/a.mp4\n",
      "MD5 (a.mp4) = \(md5)\n", "MD5 (a (1).mp4) = \(md5)", "\u{FEFF}\(md5.uppercased())  a.mp4",
      "; made by a tool\n\(md5) *a.mp4\n", "\(md5)  under-another-name.mp4\n",
      "\\\(md5)  a\\nb.mp4\n", "\(md5)\ta.mp4 ",
    ]
  )
  func forms(text: String) throws {
    #expect(try digest(text) == Self.md5)
  }

  @Test("SHA-256 is read, and a digest of another length is none")
  func lengths() throws {
    #expect(try digest("\(Self.sha256) *a.mp4", of: "a.mp4", .sha256) == Self.sha256)
    #expect(try digest("SHA256 (a.mp4) = \(Self.sha256)", of: "a.mp4", .sha256) == Self.sha256)
    #expect(throws: ChecksumFile.Problem.self) {
      try digest("\(Self.md5)  a.mp4", of: "a.mp4", .sha256)
    }
  }

  @Test("among several digests the name decides")
  func several() throws {
    let text = "\(Self.other)  b.mp4\n\(Self.md5)  dir/a.mp4\n"
    #expect(try digest(text) == Self.md5)
    #expect(
      try digest("\(Self.other) *b.mp4\n\\\(Self.md5) *a\\\\b.mp4", of: "a\\b.mp4") == Self.md5
    )
    #expect(throws: ChecksumFile.Problem.self) { try digest(text, of: "c.mp4") }
    #expect(throws: ChecksumFile.Problem.self) {
      try digest("\(Self.other)  a.mp4\n\(Self.md5)  a.mp4\n")
    }
  }

  @Test(
    "half a file, none, or another thing gives no digest",
    arguments: ["", "d41d8cd98f", "no\n"]
  )
  func none(text: String) {
    #expect(throws: ChecksumFile.Problem.self) { try digest(text) }
  }

  @Test("a name that is neither marker nor checksum file is nobody's proof")
  func names() {
    #expect(ProofFiles.export(ofProof: "/d/a.mp4.done") == "/d/a.mp4")
    #expect(ProofFiles.export(ofProof: "/d/a.mp4.sha256") == "/d/a.mp4")
    #expect(ProofFiles.export(ofProof: "/d/a.mp4.md5") == "/d/a.mp4")
    #expect(ProofFiles.export(ofProof: "/d/.done") == nil)
    #expect(ProofFiles.export(ofProof: "/d/a.mp4") == nil)
  }
}
