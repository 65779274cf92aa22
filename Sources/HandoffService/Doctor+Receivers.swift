import Destinations
import HandoffConfig
import HandoffControl
import HandoffCore
import HandoffLog
import HandoffProtocol
import LinuxSystem

/// What each destination says of itself.
extension Doctor {
  /// The broker's answer where it runs, for its environment has the secrets and its plugins are the ones
  /// that count; else plugins are started here for a moment.
  var receiverLines: [DoctorReport.Line] {
    get async {
      guard !configuration.destinations.isEmpty else { return [.ok("none is configured")] }
      do {
        if broker != nil { return try await brokersLines() }
        let look = DestinationLook(host: try await trialHost())
        return await look.lines(of: configuration.destinations) { settings in
          await PluginTrial(look: look, settings: settings, files: files).lines()
        }
      } catch {
        return [.warning("they could not be looked at: \(error)", mend: Self.otherUser)]
      }
    }
  }

  private func brokersLines() async throws -> [DoctorReport.Line] {
    try await ControlClient.ask(
      StateFolder(configuration.broker.state).socket,
      .destinationChecks,
      [String: String](),
      as: [DoctorReport.Line].self
    )
  }

  /// The host of the broker; what is not there cannot be hidden.
  private func trialHost() async throws -> ReceiverHost {
    var host = try await Broker.receiverHost(
      configuration,
      StateFolder(configuration.broker.state),
      programs,
      environment,
      Logger(threshold: .critical) { _ in }
    )
    host.hidden = try host.hidden.filter { try FileStatus.of($0, following: true) != nil }
    return host
  }
}
