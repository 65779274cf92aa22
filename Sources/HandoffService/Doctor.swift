package import HandoffConfig
import HandoffControl
import HandoffCore
import LinuxSystem

/// Looks at everything that the broker needs of the machine, whether or not a broker runs, and says how
/// to mend what is wrong.
///
/// It changes nothing, and sees with the rights of whoever asks, which may be more or fewer than the
/// broker's. A further check is one more entry of `checks`.
package struct Doctor: Sendable {
  /// One thing to look at.
  struct Check: Sendable {
    let name: String
    let look: @Sendable (Doctor) async throws -> [DoctorReport.Line]
  }

  let configuration: Configuration
  let programs: Programs
  let environment: [String: String]
  /// What the running broker says of itself; nil where none answers.
  let broker: StatusReport?
  /// Why none answers.
  let absence: String?
  let files = BlockingThread("doctor")

  static let checks: [Check] = [
    Check(name: "broker") { $0.brokerLines },
    Check(name: "containment") { await $0.containmentLines },
    Check(name: "leases") { try $0.leaseLines },
    Check(name: "inotify") { try await $0.watchLines },
    Check(name: "folders") { $0.folderLines },
    Check(name: "ledger") { await $0.ledgerLines },
    Check(name: "library") { try await $0.libraryLines },
    Check(name: "space") { try $0.spaceLines },
    Check(name: "programs") { try $0.programLines },
    Check(name: "destinations") { try await $0.destinationLines },
    Check(name: "receivers") { await $0.receiverLines },
    Check(name: "secrets") { try $0.secretLines },
    Check(name: "api") { try $0.addressLines },
  ]

  /// Asks the broker, if one runs, and looks at everything else.
  package static func look(
    at configuration: Configuration,
    programs: Programs,
    environment: [String: String]
  ) async throws -> DoctorReport {
    let (broker, absence) = await ask(configuration)
    let doctor = Doctor(
      configuration: configuration,
      programs: programs,
      environment: environment,
      broker: broker,
      absence: absence
    )
    var lines: [DoctorReport.Line] = []
    for check in checks {
      for var line in await doctor.lines(of: check) {
        line.check = check.name
        lines.append(line)
      }
    }
    return DoctorReport(checks: lines)
  }

  private func lines(of check: Check) async -> [DoctorReport.Line] {
    do {
      return try await check.look(self)
    } catch {
      return [.warning("it could not be looked at: \(error)", mend: Self.otherUser)]
    }
  }

  /// What helps where the person may not see what the broker sees.
  static let otherUser = "ask again as the broker's user"

  private static func ask(_ configuration: Configuration) async -> (StatusReport?, String?) {
    do {
      let report = try await ControlClient.ask(
        StateFolder(configuration.broker.state).socket,
        .status,
        StatusParameters(candidatesAfter: nil),
        as: StatusReport.self
      )
      return (report, nil)
    } catch {
      return (nil, "\(error)")
    }
  }

  private var brokerLines: [DoctorReport.Line] {
    guard let broker else {
      return [
        .warning(absence ?? "the broker does not answer", mend: "start it: handoff serve")
      ]
    }
    return [.ok("version \(broker.version) runs, process \(broker.pid)")]
  }

  private var ledgerLines: [DoctorReport.Line] {
    get async {
      do {
        let queries = try await LedgerQueries.open(configuration)
        guard queries.ledger != nil else {
          return [.ok("there is none yet; the first start makes it")]
        }
        var filter = HandoffFilter()
        filter.limit = 1
        _ = try await queries.handoffs(filter)
        return [.ok("it can be read")]
      } catch {
        return [
          .problem(
            "\(error)",
            mend: "read as the broker's user; if it is damaged, `handoff rebuild` makes it anew"
          )
        ]
      }
    }
  }
}
