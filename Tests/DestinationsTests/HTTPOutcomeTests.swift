import HTTPClient
import HandoffCore
import HandoffProtocol
import HandoffTestSupport
import Testing

@testable import Destinations

/// What statuses and failures mean; the table of Webhooks.md.
@Suite("Outcomes of http", .timeLimit(.minutes(1)))
struct HTTPOutcomeTests {
  private static let token = "1.abcdefghijklmnopqrstuvwxyz0123456789ABCDEFG"

  struct Row: Sendable {
    let status: Int
    let code: ErrorCode
    let effect: Effect
    let retry: RetryAdvice

    init(_ status: Int, _ code: ErrorCode, _ effect: Effect, _ retry: RetryAdvice = .never) {
      self.status = status
      self.code = code
      self.effect = effect
      self.retry = retry
    }
  }

  static let rows = [
    Row(301, .receiverFailed, .unknown), Row(303, .receiverFailed, .unknown),
    Row(308, .receiverFailed, .unknown), Row(400, .malformedRequest, .none),
    Row(401, .auth, .none, .afterFix), Row(403, .auth, .none, .afterFix),
    Row(404, .notConfigured, .none, .afterFix), Row(405, .notConfigured, .none, .afterFix),
    Row(408, .receiverTimeout, .unknown), Row(409, .receiverFailed, .none),
    Row(413, .malformedRequest, .none), Row(415, .malformedRequest, .none),
    Row(418, .receiverFailed, .none), Row(422, .malformedRequest, .none),
    Row(429, .quota, .none, .later), Row(451, .receiverFailed, .none),
    Row(500, .receiverFailed, .unknown), Row(501, .receiverFailed, .unknown),
    Row(502, .receiverFailed, .unknown), Row(503, .destinationUnavailable, .none, .later),
    Row(504, .receiverTimeout, .unknown), Row(599, .receiverFailed, .unknown),
    Row(999, .receiverFailed, .unknown),
  ]

  private func outcome(
    _ answer: DestinationSettings.Answer = .status,
    isIdempotent: Bool = false
  ) throws -> HTTPOutcome {
    let state = try #require(StateToken(Self.token))
    let redaction = TokenRedaction(capacity: 1)
    redaction.add(state)
    return HTTPOutcome(
      answer: answer,
      isIdempotent: isIdempotent,
      request: HandoffRequest(
        localIdentifiers: [
          try #require(LocalIdentifier("69D53A4B-8F24-8D7A-9C1E-3A5B7C9D0E1F/L0/001"))
        ],
        state: state
      ),
      redaction: redaction
    )
  }

  private func failed(_ delivery: HTTPDelivery) -> ResultError? {
    guard case .result(let result) = delivery, case .failure(let error) = result.outcome else {
      return nil
    }
    return error
  }

  private func reply(_ status: Int, _ body: String = "", _ type: String = "application/json")
    -> HTTPReply
  {
    HTTPReply(status: status, headers: ["content-type": type], body: Array(body.utf8))
  }

  @Test("each status has its code, effect and advice", arguments: rows)
  func statuses(row: Row) throws {
    for answer in DestinationSettings.Answer.allCases {
      let delivery = try outcome(answer).delivery(of: reply(row.status), now: 0)
      let error = try #require(failed(delivery))
      #expect(error.code == row.code)
      #expect(error.effect == row.effect)
      #expect(error.retry == row.retry)
      #expect(error.message.contains("\(row.status)"))
    }
  }

  @Test("no status left something behind for certain, and only 2xx is a success")
  func everyStatus() throws {
    for status in 100..<1000 {
      let delivery = try outcome().delivery(of: reply(status), now: 0)
      switch delivery {
      case .accepted: Issue.record("accepted \(status)")
      case .gone: #expect(status == 410)
      case .result(let result):
        if case .success = result.outcome { #expect((200..<300).contains(status)) }
        if let error = failed(delivery), error.effect == .unknown { #expect(error.retry == .never) }
      }
    }
  }

  @Test("where the result comes by callback, 2xx only says that it is taken")
  func accepted() throws {
    for status in [200, 202, 204] {
      let body = #"{"protocol_version":3,"state":"\#(Self.token)","result":"success"}"#
      guard case .accepted = try outcome(.callback).delivery(of: reply(status, body), now: 0)
      else {
        Issue.record("\(status)")
        return
      }
    }
  }

  @Test("410 stops the destination")
  func gone() throws {
    for answer in DestinationSettings.Answer.allCases {
      guard case .gone(let error) = try outcome(answer).delivery(of: reply(410), now: 0) else {
        Issue.record("not gone")
        return
      }
      #expect(error.effect == .none)
      #expect(error.message.contains("410"))
    }
  }

  @Test("with idempotent = true an uncertain attempt is made again, and stays uncertain")
  func idempotent() throws {
    for status in [408, 500, 502, 504] {
      var late = reply(status)
      late.headers["retry-after"] = "7"
      let delivery = try outcome(isIdempotent: true).delivery(of: late, now: 0)
      let error = try #require(failed(delivery))
      #expect(error.effect == .unknown)
      #expect(error.retry == .later)
      #expect(error.retryAfter == 7)
    }
    let broken = HTTPFailure(.answer, wasSent: true, "it broke off")
    #expect(try failed(outcome(isIdempotent: true).delivery(of: broken))?.retry == .later)
    #expect(try failed(outcome().delivery(of: broken))?.retry == .never)
  }

  @Test(
    "what was not sent left nothing behind; what was may have",
    arguments: [
      HTTPFailure.Kind.resolving, .connecting, .tls, .timeout, .answer, .other, .request,
    ]
  )
  func failures(kind: HTTPFailure.Kind) throws {
    let unsent = try #require(
      failed(try outcome().delivery(of: HTTPFailure(kind, wasSent: false, "so it is")))
    )
    #expect(unsent.effect == .none)
    #expect(unsent.retry == (kind == .request ? .afterFix : .later))
    let sent = try #require(
      failed(try outcome().delivery(of: HTTPFailure(kind, wasSent: true, "so it is")))
    )
    #expect(sent.effect == .unknown)
    #expect(sent.retry == .never)
    #expect(sent.code == (kind == .timeout ? .receiverTimeout : .network))
    #expect(sent.message.contains("so it is"))
  }

  // MARK: Documents

  @Test("a result document decides instead of 2xx")
  func document() throws {
    let body = """
      \u{20}
      {"protocol_version":3,"state":"\(Self.token)","result":"failure",
       "error":{"code":"quota","message":"full","effect":"none","retry":"later"}}
      """
    let error = try #require(failed(try outcome().delivery(of: reply(200, body), now: 0)))
    #expect(error.code == .quota)
    #expect(error.retry == .later)
    let success =
      #"{"protocol_version":3,"state":"\#(Self.token)","result":"success","output":{"id":"4"}}"#
    guard case .result(let result) = try outcome().delivery(of: reply(201, success), now: 0),
      case .success(let output) = result.outcome
    else {
      Issue.record("no success")
      return
    }
    #expect(output["id"]?.text == "4")
  }

  @Test(
    "another body with 2xx is a success without output",
    arguments: [
      ("", "application/json"), ("ok", "text/plain"), ("<html>{}</html>", "text/html"),
      ("{}", "application/json"), ("{\"a\":1}", "text/plain"), ("[1]", "application/json"),
      ("\"ok\"", "application/json"), ("  \n", "application/json"),
    ]
  )
  func otherBodies(body: String, type: String) throws {
    let delivery = try outcome().delivery(of: reply(200, body, type), now: 0)
    guard case .result(let result) = delivery else {
      Issue.record("no result")
      return
    }
    #expect(result.outcome == .success(output: [:]))
  }

  private static let failure =
    #"{"protocol_version":3,"state":"\#(token)","result":"failure","error":{"code":"quota"},"x":"#

  @Test(
    "a failure that cannot be read is never a success, whatever it is called",
    arguments: ["application/json", "text/plain", "application/problem+json; charset=utf-8"]
  )
  func unreadable(type: String) throws {
    let head = Array(Self.failure.utf8)
    let bodies: [[UInt8]] = [
      head + Array("NaN}".utf8), head + Array("Infinity}".utf8), head + Array("1,\"x\":2}".utf8),
      head + Array("\"\0\"}".utf8), head + [0x22, 0xE9, 0x22, 0x7D],
      head + Array(#""\ud800"}"#.utf8), [0xEF, 0xBB, 0xBF] + head + Array("1}".utf8),
      head
        + Array((String(repeating: "[", count: 70) + String(repeating: "]", count: 70) + "}").utf8),
      head.flatMap { [$0, 0] as [UInt8] },
      Array("  \r\n".utf8) + head, Array(head.prefix(20)),
      Array("[".utf8) + head + Array("1}]".utf8),
      Array("{".utf8), Array("[".utf8),
    ]
    for body in bodies {
      let answer = HTTPReply(status: 200, headers: ["content-type": type], body: body)
      let error = failed(try outcome().delivery(of: answer, now: 0))
      #expect(error?.code == .malformedResult, "\(String(decoding: body, as: UTF8.self))")
      #expect(error?.effect == .unknown)
      #expect(error?.message.contains(Self.token) == false)
    }
  }

  @Test("of what was cut nothing is taken, wherever the cut is")
  func cut() throws {
    let whole = Array((Self.failure + "1}").utf8)
    for count in 1...whole.count {
      var answer = HTTPReply(status: 200, headers: [:], body: Array(whole.prefix(count)))
      answer.isCut = true
      let error = failed(try outcome().delivery(of: answer, now: 0))
      #expect(error?.code == .malformedResult, "\(count)")
      #expect(error?.effect == .unknown)
    }
    var page = reply(200, "<html>a long page", "text/html")
    page.isCut = true
    #expect(failed(try outcome().delivery(of: page, now: 0)) == nil)
  }

  @Test("a refusal whose words cannot be read is a refusal all the same")
  func unreadableRefusal() throws {
    for body in ["{ no json", "\u{FEFF}{}", "", "["] {
      let error = failed(try outcome().delivery(of: reply(422, body), now: 0))
      #expect(error?.code == .malformedRequest)
      #expect(error?.effect == Effect.none)
    }
  }

  @Test(
    "a document that is odd, of another request or too large is malformed, never a success",
    arguments: [
      #"{"protocol_version":3}"#,
      #"{"protocol_version":3,"state":"1.other","result":"success"}"#,
      #"{"protocol_version":3,"state":"\#(token)","result":"done"}"#,
      #"{"protocol_version":2,"state":"\#(token)","result":"success"}"#,
      #"{"protocol_version":9,"state":"\#(token)","result":"success"}"#,
      #"{"protocol_version":3,"state":"\#(token)","result":"success","error":{"code":"x"}}"#,
      #"{"protocol_version":3,"state":"\#(token)","result":"success","x":"\#(String(repeating: "y", count: 17_000))"}"#,
    ]
  )
  func malformed(body: String) throws {
    let malformed = try #require(failed(try outcome().delivery(of: reply(200, body), now: 0)))
    #expect(malformed.code == .malformedResult)
    #expect(malformed.effect == .unknown)
    #expect(!malformed.message.contains(Self.token))
  }

  @Test("a refusal may say in a document what was wrong; a success with 4xx is none")
  func refusalDocument() throws {
    let refusal =
      #"{"protocol_version":3,"state":"\#(Self.token)","result":"failure","error":{"code":"unsupported_media","message":"no mkv","effect":"none"}}"#
    let said = try #require(failed(try outcome().delivery(of: reply(422, refusal), now: 0)))
    #expect(said.code == .unsupportedMedia)
    let success = #"{"protocol_version":3,"state":"\#(Self.token)","result":"success"}"#
    let odd = try #require(failed(try outcome().delivery(of: reply(422, success), now: 0)))
    #expect(odd.code == .malformedResult)
    #expect(odd.effect == .unknown)
  }

  @Test("what the server says goes along, without the token, on one line and cut")
  func said() throws {
    let problem = #"{"title":"Bad","detail":"no \#(Self.token)\nhere"}"#
    let error = try #require(
      failed(try outcome().delivery(of: reply(400, problem, "application/problem+json"), now: 0))
    )
    #expect(error.message.contains("here"))
    #expect(!error.message.contains(Self.token))
    #expect(!error.message.contains("\n"))
    let long = reply(400, String(repeating: "x", count: 5000), "text/plain; charset=utf-8")
    let cut = try #require(failed(try outcome().delivery(of: long, now: 0)))
    #expect(cut.message.utf8.count < 300)
    let page = reply(400, "<html>secret page</html>", "text/html")
    #expect(failed(try outcome().delivery(of: page, now: 0))?.message == "HTTP 400")
  }
}
