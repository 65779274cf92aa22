import Destinations
import HandoffAPI
import HandoffConfig
import HandoffControl
import HandoffCore
import HandoffProtocol
import Webhooks

extension OpenedParts {
  func httpStage(_ destination: DestinationSettings, _ health: DestinationHealth) -> HTTPStage {
    HTTPStage(
      settings: destination,
      receiver: HTTPReceiver(
        destination,
        secrets: settings.now.secrets.destinations[destination.name] ?? [],
        agent: "handoff/\(Version.text)",
        now: SystemClock.now
      ),
      delivery: delivery(for: destination),
      ledger: ledger,
      results: results,
      claims: claims(destination),
      health: health,
      address: address,
      stop: stop,
      now: SystemClock.now,
      logger: logger
    )
  }

  /// The HTTP API; results are taken there from the receivers that send theirs later.
  func apiStage() -> APIStage {
    let settings = settings
    let results = results
    let reading = GrantedReading(library: library, ledger: ledger, delivery: delivery())
    let server = APIServer(
      hosts: APIAddress.hosts(configuration.broker),
      surroundings: APISurroundings(
        secretsNow: { settings.now.answeringSecrets },
        takeResult: { result, signers in
          try await results.takeSigned(
            result,
            from: signers.compactMap { settings.now.destinations[$0] }
          )
        },
        openAsset: { grant, uuid in try await reading.open(grant, uuid: uuid) },
        now: SystemClock.now
      ),
      logger: logger
    )
    return APIStage(
      listen: configuration.broker.listen,
      server: server,
      address: address,
      state: state,
      stop: stop,
      logger: logger
    )
  }
}

extension SettingsInForce.Values {
  /// The secrets of the destinations whose receivers send their results here.
  fileprivate var answeringSecrets: [DestinationName: [WebhookSecret]] {
    secrets.destinations.filter { name, _ in
      destinations[name].map { $0.transport == .http && $0.answer == .callback } ?? false
    }
  }
}

extension StatusReport.API {
  init(_ address: APIAddress) {
    switch address.condition {
    case .off: self.init()
    case .bound(let host, let port):
      self.init(address: BrokerSettings.ListenAddress(host: host, port: port).description)
    case .failed(let reason): self.init(error: reason)
    }
  }
}
