import HandoffAPI
import HandoffControl
import HandoffCore
import HandoffProtocol
import Webhooks

extension OpenedParts {
  /// The HTTP API.
  ///
  /// - Parameter secrets: of the destinations whose receivers may bring results there.
  func apiStage(_ secrets: [DestinationName: [WebhookSecret]]) -> APIStage {
    let settings = Dictionary(configuration.destinations.map { ($0.name, $0) }) { first, _ in first
    }
    let results = results
    let reading = GrantedReading(library: library, ledger: ledger, delivery: delivery)
    let server = APIServer(
      hosts: APIAddress.hosts(configuration.broker),
      surroundings: APISurroundings(
        secrets: secrets,
        takeResult: { result, destination in
          guard let settings = settings[destination] else {
            throw ResultError(.destinationUnknown, "it is not configured", effect: .none)
          }
          try await results.takeQuietly(result, from: settings)
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
