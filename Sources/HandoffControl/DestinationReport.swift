package import HandoffProtocol

/// One configured destination, as `handoff destinations --json` shows it.
package struct DestinationReport: Codable, Sendable {
  /// What a running plugin said of itself.
  package struct Plugin: Codable, Sendable {
    package var name: String
    package var version: String
    /// The protocol version that is spoken with it.
    package var protocolVersion: Int
    package var capabilities: [String]

    package init(name: String, version: String, protocolVersion: Int, capabilities: [String]) {
      self.name = name
      self.version = version
      self.protocolVersion = protocolVersion
      self.capabilities = capabilities
    }

    private enum CodingKeys: String, CodingKey {
      case name
      case version
      case protocolVersion = "protocol_version"
      case capabilities
    }
  }

  package var name: DestinationName
  package var transport: String
  /// `up`, `down`, `paused`, `circuit_open`, or `broker_down` where no broker runs.
  package var status: String
  /// `bubblewrap`, or `none` with the reason; as configured where no broker runs.
  package var containment: String
  package var inFlight: Int
  package var waiting: Int
  /// Handoffs that have succeeded and are still in the ledger.
  package var succeeded: Int
  /// Those among them that have ended in the last 24 hours.
  package var succeededLately: Int
  @OrNull package var detail: String?
  /// Null for the other transports, and where it does not run.
  @OrNull package var plugin: Plugin?
  /// What it takes: what its receiver says where that is known, narrowed by the configuration.
  package var limits: Constraints
  /// False where what its receiver takes is not known, so that ``limits`` are the configuration's alone.
  package var areLimitsWhole: Bool
  /// What each asset is given as: `original` or the name of a rendition.
  package var use: String

  package init(
    name: DestinationName,
    transport: String,
    status: String,
    containment: String,
    limits: Constraints
  ) {
    self.name = name
    self.transport = transport
    self.status = status
    self.containment = containment
    self.limits = limits
    inFlight = 0
    waiting = 0
    succeeded = 0
    succeededLately = 0
    areLimitsWhole = true
    use = "original"
  }

  private enum CodingKeys: String, CodingKey {
    case name
    case transport
    case status
    case containment
    case inFlight = "in_flight"
    case waiting
    case succeeded
    case succeededLately = "succeeded_24h"
    case detail
    case plugin
    case limits
    case areLimitsWhole = "limits_complete"
    case use
  }
}
