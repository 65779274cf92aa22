import Destinations
import HandoffConfig
import HandoffControl
import HandoffCore
import HandoffProtocol
import Ledger

/// What there is to say of the destinations.
extension ControlQuestions {
  /// Each configured destination, in the file's order.
  func destinations() async throws -> [DestinationReport] {
    let waiting = try await ledger.pendingCounts()
    let successes = try await ledger.successes(since: now().advanced(by: DestinationReport.lately))
    let pauses = try await ledger.pauses()
    return configuration.destinations.map { settings in
      let health = roster[settings.name]
      var report = DestinationReport(
        settings,
        status: health?.shown.status ?? "down",
        containment: health?.containment ?? "not started"
      )
      report.inFlight = health?.inFlight.value ?? 0
      report.waiting = waiting[settings.name] ?? 0
      report.take(successes[settings.name])
      report.detail = health?.shown.detail
      if let pause = pauses.first(where: { $0.destination == settings.name }) {
        report.status = "paused"
        report.detail = Self.sentence(pause)
      }
      if settings.transport == .plugin {
        report.take(running[settings.name]?.introduction, settings)
      }
      return report
    }
  }

  /// What is right and wrong with each, in the file's order.
  func destinationChecks() async -> [DoctorReport.Line] {
    await look.lines(of: configuration.destinations) { settings in
      guard let plugin = running[settings.name] else {
        let reason = roster[settings.name]?.shown.detail ?? "it has not started yet"
        return [
          .problem(
            "it does not run: \(reason)",
            mend: "mend what it says; it is started again by itself"
          )
        ]
      }
      return await look.ask(plugin.process, plugin.introduction, settings)
    }
  }
}

extension DestinationReport {
  /// How far back counts that are of late.
  static let lately: Duration = .seconds(-86_400)

  init(_ settings: DestinationSettings, status: String, containment: String) {
    self.init(
      name: settings.name,
      transport: settings.transport.rawValue,
      status: status,
      containment: containment,
      limits: settings.constraints
    )
    areLimitsWhole = settings.transport != .plugin
    use = settings.rendition?.text ?? "original"
  }

  mutating func take(_ successes: (total: Int, recent: Int)?) {
    succeeded = successes?.total ?? 0
    succeededLately = successes?.recent ?? 0
  }

  /// Adds what a running plugin said of itself.
  mutating func take(_ introduction: PluginIntroduction?, _ settings: DestinationSettings) {
    guard let introduction else { return }
    plugin = Plugin(
      name: introduction.discovery.name,
      version: introduction.discovery.version,
      protocolVersion: introduction.agreement.version,
      capabilities: introduction.discovery.capabilities ?? []
    )
    limits = settings.constraints(of: introduction)
    areLimitsWhole = true
  }
}
