import Glibc
import HandoffProtocol
import LinuxSystem

/// The ways in which a plugin is ended.
struct EndingChecks: Sendable {
  let stage: CheckStage

  func run() async throws {
    try await stage.check(.shutdown) { life, _ in
      do {
        _ = try await life.link.call("shutdown", .object([:]), within: life.limits.answer)
      } catch is Finding where life.link.hasEnded {
        // Ended at once: the broker takes that for an answer too.
      }
      try await expectEnd(life, after: "`shutdown`")
    }
    try await stage.check(.hangUp) { life, _ in
      life.link.close()
      try await expectEnd(life, after: "the end of the socket")
    }
    try await stage.check(.terminate) { life, _ in
      life.process.signalGroup(SIGTERM)
      try await expectEnd(life, after: "SIGTERM")
    }
  }

  private func expectEnd(_ life: PluginLife, after what: String) async throws {
    guard await life.exit(within: life.limits.end) == nil else { return }
    throw Finding(
      "it still runs \(life.limits.end) after \(what)",
      mend:
        "End the process on `shutdown`, at the end of the socket and on SIGTERM; handoffs that are "
        + "open are asked about at the next start. A thread that still waits must not keep it."
    )
  }
}
