import HandoffCore
import HandoffProtocol
import Paths
import Testing

@Suite("Notices")
struct NoticeDraftTests {
  private let at = Timestamp(milliseconds: 1_800_000_000_000)
  private let identity = FileIdentity(device: 1, inode: 2, size: 3, modified: 4, changed: 5)

  private func handoff(_ status: HandoffStatus) throws -> Handoff {
    Handoff(
      id: Handoff.ID(row: 12),
      destination: try #require(DestinationName("social")),
      localIdentifiers: [
        try #require(LocalIdentifier("69D53A4B-8F24-8D7A-9C1E-3A5B7C9D0E1F/L0/001"))
      ],
      status: status,
      createdAt: at
    )
  }

  @Test("the result notice has the members that its readers rely on")
  func result() throws {
    var handoff = try handoff(.succeeded)
    handoff.key = "k1"
    handoff.title = "Cut"
    handoff.result = "success"
    handoff.output = ["url": .string("https://example.net/1")]
    let draft = NoticeDraft.result(of: handoff, outputSize: 30, at: at)
    let text = String(decoding: try WireCoder.encode(draft.body), as: UTF8.self)
    #expect(
      text == """
        {"at":"2027-01-15T08:00:00.000Z","destination":"social","error":null,"handoff_id":"h12",\
        "key":"k1","kind":"result",\
        "local_identifiers":["69D53A4B-8F24-8D7A-9C1E-3A5B7C9D0E1F/L0/001"],\
        "output":{"url":"https://example.net/1"},"reason":null,"result":"success",\
        "status":"succeeded","title":"Cut"}
        """
    )
    #expect(draft.condition == nil)
    #expect(draft.subject == "h12")
  }

  @Test("a handoff without a result of its own is told as a failure that says why")
  func expired() throws {
    var handoff = try handoff(.expired)
    handoff.error = ResultError(.expired, "no result came in time", effect: .unknown)
    handoff.side = .broker
    let body = NoticeDraft.result(of: handoff, outputSize: 2, at: at).body
    #expect(body["result"]?.text == "failure")
    #expect(body["status"]?.text == "expired")
    #expect(body["error"]?["code"]?.text == "expired")
    #expect(body["error"]?["effect"]?.text == "unknown")
    #expect(body["error"]?["side"]?.text == "broker")
    #expect(body["reason"]?.text == "no result came in time")
  }

  @Test("what is too long for a notice is cut or left out, and said so")
  func bounds() throws {
    var handoff = try handoff(.failed)
    handoff.output = ["log": .string("…")]
    handoff.error = ResultError(
      .receiverFailed,
      String(repeating: "ä", count: 10_000),
      effect: .none
    )
    let body = NoticeDraft.result(of: handoff, outputSize: 1 << 20, at: at).body
    #expect(body["output"] == .null)
    #expect(body["output_omitted"] == .bool(true))
    let reason = try #require(body["reason"]?.text)
    #expect(reason.utf8.count <= NoticeDraft.longestText + 3)
    #expect(reason.hasSuffix("ä…"))
  }

  @Test("one content is told once for each reason, whatever its name is made of")
  func refusals() throws {
    func draft(_ path: BytePath, _ reason: String, _ identity: FileIdentity?) -> NoticeDraft {
      let change = CandidateChange(path: path, folder: "/e", state: .refused, reason: reason)
      let evidence = Evidence(.structure, passed: false, reason)
      return .refusedExport(change, identity, evidence: [evidence], at: at)
    }
    let other = FileIdentity(device: 1, inode: 2, size: 3, modified: 9, changed: 9)
    let rewritten = draft("/e/1.mp4", "no video", other)
    let first = draft("/e/1.mp4", "no video", identity)
    #expect(first.condition == draft("/e/1.mp4", "no video", identity).condition)
    #expect(first.condition != rewritten.condition)
    #expect(first.condition != draft("/e/1.mp4", "encrypted", identity).condition)
    // NFC and NFD, and two names that have the same lossy form.
    let names: [BytePath] = [
      "/e/\u{e9}", "/e/e\u{301}", BytePath([47, 0xFF]), BytePath([47, 0xFE]),
    ]
    #expect(
      Set(names.map { draft($0, "no", identity).condition?.text.utf8.map(\.self) }).count == 4
    )
    let body = draft(BytePath([47, 0xFF]), "no", identity).body
    #expect(body["path_bytes"]?.text == "L/8=")
    #expect(first.body["path_bytes"] == nil)
    #expect(first.body["evidence"]?.first?["check"]?.text == "structure")
    #expect(first.body["title"]?.text == "1.mp4")
  }

  @Test("an id is n and a number")
  func ids() {
    #expect(Notice.ID("n12")?.row == 12)
    #expect(Notice.ID("n12")?.description == "n12")
    for text in ["12", "h12", "n0", "n-1", "n", "n1x"] { #expect(Notice.ID(text) == nil) }
  }
}

extension JSONValue {
  fileprivate var first: JSONValue? {
    guard case .array(let elements) = self else { return nil }
    return elements.first
  }
}
