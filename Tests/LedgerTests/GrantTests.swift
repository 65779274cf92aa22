import HandoffCore
import HandoffProtocol
import HandoffTestSupport
import Ledger
import Testing

/// Grants are made as state tokens are, and are none.
@Suite("Grants", .timeLimit(.minutes(1)))
struct GrantTests {
  @Test("A grant names its handoff, stays the same over a restart, and is not the state token")
  func stable() async throws {
    try await withTemporaryDirectory(inMemory: true) { directory in
      let fixture = try await LedgerFixture.open(directory)
      let claimed = try await fixture.submitted()
      let grant = try await fixture.ledger.grant(of: claimed.handoff.id)
      let code = try #require(grant.revealed.split(separator: ".").last)
      #expect(grant.revealed.hasPrefix("\(claimed.handoff.id)."))
      #expect(code.utf8.count == 43)
      #expect(!claimed.request.state.revealed.contains(code))
      #expect("\(grant)" == "(grant)")
      try await fixture.ledger.close()
      let again = try await LedgerFixture.open(directory)
      #expect(try await again.ledger.grant(of: claimed.handoff.id).revealed == grant.revealed)
      #expect(try await again.ledger.handoff(with: grant)?.id == claimed.handoff.id)
      try await again.ledger.close()
    }
  }

  @Test("Another handoff's code, a state token and a changed code open nothing")
  func forged() async throws {
    try await LedgerFixture.with { fixture in
      let first = try await fixture.submitted(1)
      let second = try await fixture.submitted(2)
      let grant = try await fixture.ledger.grant(of: first.handoff.id).revealed
      let code = grant.drop { $0 != "." }
      let token = first.request.state.revealed.drop { $0 != "." }
      let forged = [
        "\(second.handoff.id)\(code)", "\(first.handoff.id)\(token)", "\(grant)A",
        String(grant.dropLast()), "h99\(code)", "h0\(code)", "\(first.handoff.id).", "h1", "x.y",
      ]
      for text in forged {
        let grant = try #require(Grant(text))
        #expect(try await fixture.ledger.handoff(with: grant)?.id == nil, "\(text)")
      }
      #expect(Grant("") == nil)
      #expect(Grant("h1.a b") == nil)
      #expect(Grant(String(repeating: "h", count: 129)) == nil)
    }
  }
}
