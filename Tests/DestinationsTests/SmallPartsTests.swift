import Glibc
import HandoffCore
import HandoffProtocol
import HandoffTestSupport
import LinuxSystem
import Paths
import Testing

@testable import Destinations

@Suite("A command")
struct CommandSearchTests {
  @Test("is looked for beside handoff first, then on the path, and must be executable")
  func search() async throws {
    try await withTemporaryDirectory { root in
      for (name, mode) in [("own/env", 0o755), ("own/plain", 0o644), ("path/plain", 0o755)] {
        let path = root.appending(name)
        try Directory.create(path.parent)
        _ = try FileDescriptor.open(path, O_WRONLY | O_CREAT, mode: mode_t(mode))
        #expect(chmod(path.nulTerminated, mode_t(mode)) == 0)
      }
      let searchPath = "relative::\(root.appending("path").lossyText):/usr/bin"
      func found(_ name: String) -> BytePath? {
        CommandSearch.program(name, beside: root.appending("own"), searchPath: searchPath)
      }
      #expect(found("env") == root.appending("own/env"))
      #expect(found("plain") == root.appending("path/plain"))
      #expect(found("ls") == "/usr/bin/ls")
      #expect(found("/usr/bin/ls") == "/usr/bin/ls")
      #expect(found("own/env") == nil)
      #expect(found("/usr/bin") == nil)
      #expect(found("") == nil)
      #expect(found("no-such-program") == nil)
    }
  }
}

@Suite("A script's first line")
struct ScriptStartTests {
  @Test(
    "tells what keeps the script from being started",
    arguments: [
      ("#!/bin/sh\nexit 0\n", nil), ("#! /usr/bin/env sh\n", nil), ("#!/bin/sh -e\n", nil),
      ("no script", nil), ("", nil), ("#!/usr/bin/env -S sh -e\n", nil),
      ("#!/bin/sh\r\nexit 0\r\n", "CR LF"), ("#!/no/such/python\n", "/no/such/python"),
      ("#!/usr/bin/env no-such-program\n", "no-such-program"), ("#!python3\n", "python3"),
      ("#!\n", "names no interpreter"),
    ]
  )
  func faults(text: String, words: String?) async throws {
    try await withTemporaryDirectory { root in
      let path = root.appending("receiver")
      try FileDescriptor.open(path, O_WRONLY | O_CREAT, mode: 0o755).write(Array(text.utf8))
      let fault = ScriptStart(of: path, searchPath: CommandSearch.defaultPath)?.fault
      #expect(fault?.contains(words ?? "") == (words == nil ? nil : true), "\(fault ?? "none")")
    }
  }
}

@Suite("The log's allowance")
struct LogAllowanceTests {
  @Test("takes some lines at once, then a steady few, and counts what it leaves out")
  func flood() {
    let allowance = LogAllowance()
    let start = ContinuousClock.now
    let first = (0..<1000).compactMap { _ in allowance.take(1000, now: start) }
    #expect(first.count == 54)
    #expect(first.allSatisfy { $0 == 0 })
    #expect(allowance.take(1000, now: start + .milliseconds(100)) == nil)
    #expect(allowance.take(1000, now: start + .seconds(2)) == 947)
    var taken = 0
    for moment in 0..<10_000 {
      let now = start + .seconds(2) + .milliseconds(moment)
      if allowance.take(1000, now: now) != nil { taken += 1 }
    }
    #expect((16...20).contains(taken), "\(taken)")
  }
}

@Suite("The restart policy")
struct RestartPolicyTests {
  @Test("doubles its waits, opens the circuit after five short lives, and again after one more")
  func circuit() {
    var policy = RestartPolicy()
    let waits = (0..<4).map { _ in policy.ended(lifetime: .zero, jitter: 1) }
    #expect(
      waits == [
        .restart(after: .milliseconds(500)), .restart(after: .seconds(1)),
        .restart(after: .seconds(2)), .restart(after: .seconds(4)),
      ]
    )
    #expect(policy.ended(lifetime: .zero, jitter: 1) == .openCircuit(for: .seconds(300)))
    #expect(policy.ended(lifetime: .zero, jitter: 1) == .openCircuit(for: .seconds(300)))
    policy.reset()
    #expect(policy.ended(lifetime: .zero, jitter: 0) == .restart(after: .milliseconds(250)))
  }

  @Test("forgets failures after a long life, and never waits longer than the maximum")
  func stable() {
    var policy = RestartPolicy(maximum: .seconds(3), limit: 100)
    for _ in 0..<50 { _ = policy.ended(lifetime: .zero, jitter: 1) }
    #expect(policy.ended(lifetime: .zero, jitter: 1) == .restart(after: .seconds(3)))
    #expect(
      policy.ended(lifetime: .seconds(60), jitter: 1) == .restart(after: .milliseconds(500))
    )
  }
}

@Suite("Redaction")
struct TokenRedactionTests {
  @Test("replaces every known token, wherever it stands, and forgets the oldest")
  func redaction() throws {
    let redaction = TokenRedaction(capacity: 2)
    for token in ["first", "second", "third"] {
      redaction.add(try #require(StateToken(token)))
    }
    #expect(
      redaction.redacted("third first second,secondthird secon")
        == "(state token) first (state token),(state token)(state token) secon"
    )
    #expect(redaction.redacted("") == "")
  }

  @Test("a result loses its own token and its grant in every text that is kept of it")
  func result() throws {
    let token = "7.abcdefghijklmnopqrstuvwxyz0123456789"
    let state = try #require(StateToken(token))
    let grant = try #require(Grant("h7.abcdefghijklmnopqrstuvwxyz"))
    let quoting = "I had \(token) and \(grant.revealed)"
    let shown = "I had (state token) and (grant)"
    func redacted(_ outcome: HandoffResult.Outcome) -> HandoffResult.Outcome {
      let result = HandoffResult(state: state, outcome: outcome)
      return TokenRedaction.redactedResult(result, grant: grant).outcome
    }
    let output: [String: JSONValue] = [token: .array([.string(quoting)])]
    #expect(
      redacted(.success(output: output))
        == .success(output: ["(state token)": .array([.string(shown)])])
    )
    let error = ResultError(.quota, quoting, effect: .none, remedy: quoting)
    let clean = ResultError(.quota, shown, effect: .none, remedy: shown)
    #expect(redacted(.failure(error)) == .failure(clean))
    #expect(redacted(.cancelled(error)) == .cancelled(clean))
  }
}
