import Destinations
import HandoffAPI
import HandoffConfig
import HandoffControl
import HandoffCore
import HandoffProtocol

extension OpenedParts {
  func httpStage(_ settings: DestinationSettings, _ health: DestinationHealth) -> HTTPStage {
    HTTPStage(
      settings: settings,
      receiver: HTTPReceiver(
        settings,
        secrets: secrets.destinations[settings.name] ?? [],
        agent: "handoff/\(Version.text)",
        now: SystemClock.now
      ),
      delivery: delivery,
      ledger: ledger,
      results: results,
      claims: claims(settings),
      health: health,
      address: address,
      stop: stop,
      now: SystemClock.now,
      logger: logger
    )
  }

  /// The HTTP API; results are taken there from the receivers that send theirs later.
  func apiStage() -> APIStage {
    let answering = configuration.destinations.filter {
      $0.transport == .http && $0.answer == .callback
    }
    let secrets = self.secrets.destinations.filter { name, _ in
      answering.contains { $0.name == name }
    }
    let settings = Dictionary(configuration.destinations.map { ($0.name, $0) }) { first, _ in first
    }
    let results = results
    let reading = GrantedReading(library: library, ledger: ledger, delivery: delivery)
    let server = APIServer(
      hosts: APIAddress.hosts(configuration.broker),
      surroundings: APISurroundings(
        secrets: secrets,
        takeResult: { result, signers in
          try await results.takeSigned(result, from: signers.compactMap { settings[$0] })
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
