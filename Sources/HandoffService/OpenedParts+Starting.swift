import Destinations
import HandoffConfig
import HandoffCore
import HandoffProtocol

/// Starts the stages that a reload can end and start again.
extension OpenedParts {
  /// Starts all that the configuration in force names; none of them works before ``RunningStages/run()``.
  func startAll(_ troubles: TroubleStage) async throws {
    for destination in configuration.destinations {
      try await prepare(destination, troubles)()
    }
    for callback in configuration.callbacks.values { start(callback) }
    startVerification()
  }

  /// Makes ready what a destination needs on disk.
  ///
  /// - Parameters:
  ///   - destination: as it is to be worked for.
  ///   - troubles: hears how it is.
  /// - Returns: starts its stage, with the secrets that are in force by then.
  /// - Throws: `SystemError` where its work folder cannot be made; nothing has changed then.
  func prepare(
    _ destination: DestinationSettings,
    _ troubles: TroubleStage
  ) async throws -> @Sendable () -> Void {
    switch destination.transport {
    case .exec, .plugin:
      let launch = try await launch(destination)
      return { start(destination, launch, troubles) }
    case .http, .url, .file:
      return { start(destination, nil, troubles) }
    }
  }

  private func start(
    _ destination: DestinationSettings,
    _ launch: ReceiverLaunch?,
    _ troubles: TroubleStage
  ) {
    let name = destination.name
    dispatch.renew(name)
    wishes.renew(name)
    let health = DestinationHealth(name) { troubles.tell(name, $0) }
    var parts = self
    parts.stop = stop.child()
    let work = parts.work(destination, launch, health)
    roster.put(health)
    stages.start(name.stageName, stop: parts.stop, work)
  }

  private func work(
    _ destination: DestinationSettings,
    _ launch: ReceiverLaunch?,
    _ health: DestinationHealth
  ) -> @Sendable () async -> Void {
    switch (destination.transport, launch) {
    case (.exec, let launch?):
      let stage = execStage(destination, launch, health)
      return { await stage.run() }
    case (.plugin, let launch?):
      let stage = pluginStage(destination, launch, health)
      return { await stage.run() }
    case (.http, _):
      let stage = httpStage(destination, health)
      return { await stage.run() }
    case (.url, _):
      let stage = urlStage(destination, health)
      return { await stage.run() }
    case (.file, _):
      let stage = fileStage(destination, health)
      return { await stage.run() }
    case (.exec, nil), (.plugin, nil):
      preconditionFailure("a program is prepared before its stage is made")
    }
  }

  /// Starts to bring the notices of a callback.
  func start(_ callback: CallbackSettings) {
    notices.renew(callback.id)
    var parts = self
    parts.stop = stop.child()
    let loop = parts.noticeLoop(callback)
    stages.start(callback.id.stageName, stop: parts.stop) { await loop.run() }
  }

  /// Starts to read objects again at the interval that is in force.
  func startVerification() {
    var parts = self
    parts.stop = stop.child()
    let stage = parts.verification
    stages.start(Self.verificationName, stop: parts.stop) { await stage.run() }
  }

  static let verificationName = "verification"
}

extension DestinationName {
  /// Under which its stage runs.
  var stageName: String { "destination.\(text)" }
}

extension CallbackID {
  /// Under which its loop runs.
  var stageName: String { "callback.\(text)" }
}
