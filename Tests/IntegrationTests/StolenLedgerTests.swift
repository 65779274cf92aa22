import Glibc
import HandoffProtocol
import HandoffTestSupport
import LinuxSystem
import Paths
import Testing

/// What a copy of the ledger's file is worth to somebody who would like to answer for a receiver.
@Suite("A stolen copy of the ledger")
struct StolenLedgerTests {
  @Test("no live token is in it, and nothing in it is one", .timeLimit(.minutes(2)))
  func copy() async throws {
    try await ObedientPlugin.run(["plug"]) { scene in
      let ids = try await scene.sendMany(5, try await scene.importedAsset(1), to: "plug")
      let plugin = try await ObedientPlugin("plug", scene)
      let given = try await plugin.given(ids.count)
      try await scene.sh("mkdir stolen && cp state/ledger.db state/ledger.db-wal stolen/")
      try expectNoToken(given.map(\.token), in: scene.broker.root.appending("stolen"))

      let candidates = try await candidates(scene)
      #expect(candidates.count > 100)
      for (index, candidate) in candidates.enumerated() {
        let document = ObedientPlugin.result(candidate)
        try plugin.order("result", "x\(index).", ["document": document])
      }
      let answers = try await plugin.answers("x", candidates.count)
      let verdicts = Set(answers.map(\.verdict))
      #expect(verdicts.isSubset(of: ["unknown_state", "malformed_result"]), "\(verdicts)")
      for id in ids {
        #expect(try await scene.handoff(id)["status"]?.text == "accepted")
      }
      #expect(try await plugin.report("own", ObedientPlugin.result(given[0].token)) == "ok")
    }
  }

  private func expectNoToken(_ tokens: [String], in folder: BytePath) throws {
    for entry in try Directory.entries(of: folder) {
      let file = try FileDescriptor.open(folder.appending(entry.name), O_RDONLY)
      let text = String(decoding: try file.readAll(limit: 1 << 28), as: Unicode.ASCII.self)
      #expect(!text.isEmpty)
      for token in tokens {
        let code = try #require(token.split(separator: ".").last)
        #expect(code.utf8.count == 43)
        #expect(!text.contains(code), "\(entry.name)")
      }
    }
  }

  /// Everything in the copy that could be a token or be made into one: each value of each row of
  /// `handoffs` as text, hexadecimal, base64url and their digests and HMACs, with each row's number.
  private func candidates(_ scene: Scene) async throws -> [String] {
    try DurableFile.write(
      Array(Self.program.utf8),
      to: scene.broker.root.appending("candidates.py")
    )
    try await scene.sh("python3 candidates.py stolen/ledger.db > candidates")
    let file = try FileDescriptor.open(scene.broker.root.appending("candidates"), O_RDONLY)
    let text = String(decoding: try file.readAll(limit: 1 << 26), as: UTF8.self)
    return text.split(separator: "\n").map(String.init)
  }

  private static let program = """
    import base64, hashlib, hmac, sqlite3, struct, sys

    def url(data): return base64.urlsafe_b64encode(data).decode().rstrip("=")

    ledger = sqlite3.connect(sys.argv[1])
    found = set()
    for row in ledger.execute("SELECT id, token_random, token_digest FROM handoffs"):
        number, random, digest = row
        wide = struct.pack(">q", number)
        made = [random, digest, hashlib.sha256(random).digest(),
                hashlib.sha256(wide + random).digest(), hashlib.sha256(digest).digest()]
        for key in (b"", random, digest, b"state tokens", b"handoff", wide):
            made += [hmac.new(key, wide + random, "sha256").digest(),
                     hmac.new(key, random, "sha256").digest(),
                     hmac.new(hmac.new(key, b"state tokens", "sha256").digest(),
                              wide + random, "sha256").digest()]
        for data in made:
            for text in (url(data), data.hex()):
                found |= {"%d.%s" % (number, text), text}
        found |= {str(number), "%d." % number}
    print("\\n".join(sorted(found)))
    """
}
