import HandoffCore
import HandoffProtocol
import Paths
import Testing

@Suite("What is told of troubles")
struct TroubleTrackerTests {
  private let one = Trouble.Subject.export("/exports/1.mp4", folder: "/exports")
  private let two = Trouble.Subject.export("/exports/2.mp4", folder: "/exports")
  private let elsewhere = Trouble.Subject.export("/other/3.mp4", folder: "/other")

  private func trouble(
    _ subject: Trouble.Subject,
    _ condition: String = "library",
    patience: Duration = .seconds(60)
  ) -> Trouble {
    Trouble(
      subject,
      .failedImport,
      condition: condition,
      reason: "read-only",
      patience: patience
    )
  }

  @Test("what passes within its patience is not told")
  func passes() {
    var tracker = TroubleTracker()
    #expect(tracker.suffers(trouble(one), at: .seconds(10)) == [])
    #expect(tracker.nextDue == .seconds(70))
    #expect(tracker.due(at: .seconds(69)) == [])
    #expect(tracker.isWell(one) == [.end("library")])
    #expect(tracker.due(at: .seconds(1000)) == [])
    #expect(tracker.nextDue == nil)
  }

  @Test("what lasts is told once, however often it is found again, and anew after its end")
  func lasts() {
    var tracker = TroubleTracker()
    _ = tracker.suffers(trouble(one), at: .zero)
    #expect(tracker.suffers(trouble(one), at: .seconds(30)) == [])
    #expect(tracker.due(at: .seconds(60)) == [.tell(trouble(one))])
    #expect(tracker.due(at: .seconds(60)) == [])
    #expect(tracker.suffers(trouble(one), at: .seconds(90)) == [])
    #expect(tracker.conditions == ["library"])
    #expect(tracker.isWell(one) == [.end("library")])
    #expect(tracker.suffers(trouble(one), at: .seconds(100)) == [])
    #expect(tracker.due(at: .seconds(160)) == [.tell(trouble(one))])
  }

  @Test("those who suffer from one cause are told of once a folder, and it ends with the last")
  func cause() {
    var tracker = TroubleTracker()
    let now = Duration.seconds(5)
    #expect(tracker.suffers(trouble(one, patience: .zero), at: now).count == 1)
    #expect(tracker.suffers(trouble(two, patience: .zero), at: now) == [])
    let other = trouble(elsewhere, patience: .zero)
    #expect(tracker.suffers(other, at: now) == [.tell(other)])
    #expect(tracker.isWell(one) == [])
    #expect(tracker.isWell(two) == [])
    #expect(tracker.isWell(elsewhere) == [.end("library")])
    #expect(tracker.isWell(elsewhere) == [])
  }

  @Test("another cause of the same export ends the first, and does not begin its time anew")
  func changing() {
    var tracker = TroubleTracker()
    _ = tracker.suffers(trouble(one, "a"), at: .zero)
    #expect(tracker.suffers(trouble(one, "b"), at: .seconds(40)) == [.end("a")])
    #expect(tracker.due(at: .seconds(60)) == [.tell(trouble(one, "b"))])
    #expect(tracker.suffers(trouble(one, "c"), at: .seconds(70)) == [.end("b")])
  }

  @Test("who seems to be well counts as well only after a while")
  func recovery() throws {
    var tracker = TroubleTracker()
    let name = try #require(DestinationName("archive"))
    let subject = Trouble.Subject.destination(name)
    let down = trouble(subject, "down", patience: .zero)
    #expect(tracker.suffers(down, at: .zero) == [.tell(down)])
    tracker.seemsWell(subject, until: .seconds(60))
    #expect(tracker.suffers(down, at: .seconds(30)) == [])
    #expect(tracker.due(at: .seconds(61)) == [])
    tracker.seemsWell(subject, until: .seconds(120))
    tracker.seemsWell(subject, until: .seconds(500))
    #expect(tracker.nextDue == .seconds(120))
    #expect(tracker.due(at: .seconds(120)) == [.end("down")])
    #expect(tracker.suffers(down, at: .seconds(121)) == [.tell(down)])
  }

  @Test("what a change of a candidate means")
  func meanings() {
    func meaning(_ state: CandidateState, _ reason: String? = nil) -> CandidateChange.Meaning {
      CandidateChange(path: "/e/1.mp4", folder: "/e", state: state, reason: reason)
        .meaning(sidecarWait: .seconds(30), giveUp: .seconds(600))
    }
    func patience(_ meaning: CandidateChange.Meaning) -> Duration? {
      guard case .suffers(let trouble) = meaning else { return nil }
      return trouble.patience
    }
    #expect(meaning(.refused, "no video") == .refused)
    #expect(meaning(.importing) == .unchanged)
    #expect(meaning(.imported) == .well)
    #expect(meaning(.unknown) == .well)
    #expect(patience(meaning(.importing, "read-only")) == .seconds(60))
    #expect(patience(meaning(.unreadable, "permission denied")) == .seconds(60))
    #expect(patience(meaning(.waitingSidecar, "its sidecar is invalid")) == .seconds(90))
    #expect(patience(meaning(.waitingProof, "its marker is not there")) == .seconds(600))
    #expect(patience(meaning(.noSpace, "no space: 1 byte is free")) == .zero)
  }
}
