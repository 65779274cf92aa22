import HandoffProtocol
import Testing

@Suite("Protocol versions")
struct VersionTests {
  private func request(_ text: String) throws -> HandoffRequest {
    try WireCoder.decode(
      HandoffRequest.self,
      from: Array(text.utf8),
      limit: HandoffRequest.maximumSize
    )
  }

  private func result(_ text: String) throws -> HandoffResult {
    try WireCoder.decode(HandoffResult.self, from: Array(text.utf8))
  }

  private func sender(_ text: String) throws -> SendRequest {
    try WireCoder.decode(SendRequest.self, from: Array(text.utf8))
  }

  private func written(_ document: some Encodable) throws -> String {
    String(decoding: try WireCoder.encode(document), as: UTF8.self)
  }

  // MARK: Golden documents

  @Test(
    "a golden request of each version is read and written byte for byte",
    arguments: [
      GoldenV1.requestWithEverything, GoldenV2.requestWithEverything,
      GoldenV3.requestWithEverything,
    ]
  )
  func goldenRequest(text: String) throws {
    #expect(try written(request(text)) == text)
  }

  @Test("the smallest request of each version has the defaults of what it lacks")
  func smallest() throws {
    let documents = [
      GoldenV1.smallestRequest, GoldenV2.smallestRequest, GoldenV3.smallestRequest,
    ]
    for (text, version) in zip(documents, 1...) {
      let read = try request(text)
      #expect(read.protocolVersion == version)
      #expect(read.localIdentifiers.map(\.text) == [GoldenV3.identifier])
      #expect(read.title == nil && !read.syncPublish && read.callbackID == nil)
      #expect(read.attempt == 1 && read.metadata == nil && read.expiresAt == nil)
    }
  }

  @Test(
    "a golden result of each version is read and written byte for byte",
    arguments: [
      GoldenV1.success, GoldenV1.cancelled, GoldenV1.failure, GoldenV2.success, GoldenV2.cancelled,
      GoldenV2.failure, GoldenV3.success, GoldenV3.cancelled, GoldenV3.failure,
    ]
  )
  func goldenResult(text: String) throws {
    #expect(try written(result(text)) == text)
  }

  @Test("the error of a golden failure is the same in each version")
  func goldenError() throws {
    let outcomes = try [GoldenV1.failure, GoldenV2.failure, GoldenV3.failure].map { text in
      try result(text).outcome
    }
    #expect(Set(outcomes).count == 1)
  }

  @Test(
    "a golden document of a sender is read in each version",
    arguments: [
      (GoldenV1.sender, 1), (GoldenV2.sender, 2), (GoldenV3.sender, 3),
    ]
  )
  func goldenSender(text: String, version: Int) throws {
    let read = try sender(text)
    #expect(read.protocolVersion == version)
    #expect(read.key == "export-17" && read.destination.text == "social")
    #expect(read.localIdentifiers.count == (version == 2 ? 2 : 1))
    #expect(read.title == (version == 1 ? nil : "Day 1"))
    #expect(read.syncPublish == (version == 3))
    #expect(read.metadata?["take"]?.integer == 3)
    let again = try sender(written(read))
    #expect(again == read)
    #expect(try written(again) == text)
  }

  // MARK: Newer documents

  @Test("members that a version does not know are ignored, also those of a later version")
  func unknownMembers() throws {
    #expect(try request(GoldenNewer.requestWithUnknownMembers).protocolVersion == 3)
    #expect(try request(GoldenNewer.titleAtOne).title == nil)
    #expect(
      try result(GoldenNewer.resultWithUnknownMembers).outcome
        == .success(output: ["id": .string("17")])
    )
    guard case .failure(let error) = try result(GoldenNewer.failureWithUnknownMembers).outcome
    else { return #expect(Bool(false), "not a failure") }
    #expect(error.code == ErrorCode("brand_new"))
  }

  @Test("an unknown member that must be understood is refused in each kind of document")
  func mustUnderstand() throws {
    for text in [
      GoldenNewer.requestThatMustBeUnderstood, GoldenNewer.titleThatMustBeUnderstoodAtOne,
    ] {
      #expect(code { try request(text) } == .versionIncompatible)
    }
    let text = GoldenV3.sender.split(separator: "[\"sync_publish\"]")
      .joined(separator: "[\"sync_publish\",\"region\"]")
    #expect(code { try sender(text) } == .versionIncompatible)
  }

  @Test("a document of version 4 is refused and names both sides' versions")
  func newerVersion() {
    let error = #expect(throws: ProtocolError.self) { try sender(GoldenNewer.senderOfFour) }
    #expect(error?.code == .versionIncompatible)
    #expect(error?.message == "the sender writes version 4, the broker reads [1, 2, 3]")
    let asked = #expect(throws: ProtocolError.self) { try request(GoldenNewer.requestOfFour) }
    #expect(asked?.code == .versionIncompatible)
    #expect(asked?.message == "request of version 4, this side reads [1, 2, 3]")
    #expect(code { try result(GoldenNewer.resultOfFour) } == .malformedResult)
  }

  // MARK: Agreement

  @Test(
    "the highest version that both sides know is used",
    arguments: [
      ([1, 2, 3], [1], 1), ([1, 2, 3], [1, 2], 2), ([1, 2, 3], [3], 3), ([1, 2], [1, 2, 3], 2),
      ([1, 2, 3], Array(1...99), 3), ([2], [3, 2, 1], 2), ([3, 1], [2, 1], 1),
    ]
  )
  func agreement(configured: [Int], receiver: [Int], version: Int) throws {
    #expect(try VersionAgreement(configured: configured, receiver: receiver).version == version)
  }

  @Test("who is not asked is given the highest version of the configuration")
  func unasked() throws {
    #expect(try VersionAgreement(configured: [1, 2], receiver: nil).version == 2)
  }

  @Test(
    "without a version in common the error names both sides' versions",
    arguments: [
      ([1, 2, 3], [4], "1, 2, 3", "4"), ([1, 2, 3], [0], "1, 2, 3", "0"),
      ([1, 2, 3], [], "1, 2, 3", "none"), ([3], [1, 2], "3", "1, 2"),
      ([1, 2, 3], Array(4...20), "1, 2, 3", "4, 5, 6, 7, 8, 9, 10, 11, … (17 in all)"),
    ]
  )
  func noAgreement(configured: [Int], receiver: [Int], ours: String, theirs: String) {
    let error = #expect(throws: ResultError.self) {
      try VersionAgreement(configured: configured, receiver: receiver)
    }
    #expect(error?.code == .versionIncompatible)
    #expect(error?.effect == Effect.none)
    #expect(
      error?.message
        == "no protocol version in common: the broker writes \(ours), the receiver reads \(theirs)"
    )
  }

  // MARK: Carrying

  private struct Carried {
    var title: String?
    var count = 1
    var syncPublish = false
    var callback = false

    func request() throws -> HandoffRequest {
      let both = [
        "69D53A4B-8F24-8D7A-9C1E-3A5B7C9D0E1F/L0/001",
        "00112233-4455-8677-8899-AABBCCDDEEFF/L0/001",
      ]
      return HandoffRequest(
        localIdentifiers: try both.prefix(count).map { try #require(LocalIdentifier($0)) },
        state: try #require(StateToken("t.1")),
        title: title,
        syncPublish: syncPublish,
        callbackID: callback ? CallbackID("editor") : nil
      )
    }
  }

  private static let matrix: [(Carried, member: String, from: Int)] = [
    (Carried(), "", 1),
    (Carried(title: "Day 1"), "title", 2),
    (Carried(count: 2), "2 local_identifiers", 2),
    (Carried(syncPublish: true), "sync_publish", 3),
    (Carried(callback: true), "callback_id", 3),
  ]

  @Test("each member is carried from its version on, and refused by name before", arguments: 0..<5)
  func carrying(row: Int) throws {
    let (content, member, first) = Self.matrix[row]
    for version in 1...3 {
      let agreement = try VersionAgreement(configured: [1, 2, 3], receiver: [version])
      guard version < first else {
        let carried = try content.request().carried(by: agreement)
        #expect(carried.protocolVersion == version)
        let back = try request(written(carried))
        #expect(back.title == content.title && back.localIdentifiers.count == content.count)
        #expect(back.syncPublish == content.syncPublish)
        continue
      }
      let error = #expect(throws: ResultError.self) {
        try content.request().carried(by: agreement)
      }
      #expect(error?.code == .versionIncompatible && error?.effect == Effect.none)
      #expect(
        error?.message == "protocol version \(version) cannot carry \(member): the broker writes "
          + "1, 2, 3, the receiver reads \(version)"
      )
    }
  }

  @Test("a title that only is the default is left out at version 1, and stays above")
  func defaultTitle() throws {
    let content = try Carried(title: "clip").request()
    for version in 1...3 {
      let agreement = try VersionAgreement(configured: [version], receiver: nil)
      let carried = try content.carried(by: agreement, defaultTitle: "clip")
      #expect(carried.title == (version == 1 ? nil : "clip"))
      #expect(try written(content.written(in: version)) == written(carried))
    }
  }

  @Test("what a version cannot carry is never left out in writing")
  func encodingRefuses() throws {
    for (content, _, first) in Self.matrix where first > 1 {
      var request = try content.request()
      request.protocolVersion = first - 1
      #expect(code { try WireCoder.encode(request) } == .versionIncompatible)
    }
  }

  @Test("a result answers in the version of its request")
  func resultVersion() throws {
    #expect(try result(GoldenV2.success).violation(ofVersion: 2) == nil)
    let fault = try result(GoldenV2.success).violation(ofVersion: 1)
    #expect(fault?.code == .malformedResult)
    #expect(fault?.message == "result of version 2 for a request of version 1")
  }
}
