import Glibc
import HandoffProtocol
import HandoffTestSupport
import LinuxSystem
import Paths
import Testing

/// A destination whose receiver is the social plugin, for a Matrix room.
struct MatrixPlace: Sendable {
  let name: String
  let room: String
  let token: String
  /// Further lines of the destination itself.
  var more = ""

  init(_ name: String, _ room: String, _ token: String) {
    self.name = name
    self.room = room
    self.token = token
  }

  /// Its part of a configuration; contained, as an operator has it.
  func configuration(_ synapse: Synapse) -> String {
    """
    [destination.\(name)]
    transport = "plugin"
    command = ["handoff-social"]
    containment = "require"
    network = true
    read = ["tokens"]
    retry = { for = "60s", first = "200ms", max = "1s" }
    \(more)
    [destination.\(name).settings]
    platform = "matrix"
    server = "\(synapse.url)"
    room = "\(room)"
    token_file = "./tokens/\(name)"
    poll_interval_s = 0.2
    in_flight_s = 0.5

    """
  }

  /// Writes its token.
  func writeToken(_ root: BytePath) throws {
    try DurableFile.write(Array("\(token)\n".utf8), to: root.appending("tokens/\(name)"))
  }

  /// The configuration of a broker with some places.
  static func configuration(_ places: [MatrixPlace], handoff: [String]) throws -> String {
    let synapse = try Synapse.shared
    return Scene.configuration(
      handoff: handoff,
      destinations: places.map { $0.configuration(synapse) }.joined()
    )
  }

  /// Runs a broker with some places.
  static func run(
    _ places: [MatrixPlace],
    handoff: [String] = [],
    starting: Bool = true,
    _ body: nonisolated(nonsending) (Scene) async throws -> Void
  ) async throws {
    let text = try configuration(places, handoff: handoff)
    try await Scene.run(text, starting: false) { scene in
      try Directory.create(scene.broker.root.appending("tokens"))
      for place in places { try place.writeToken(scene.broker.root) }
      if starting { try await scene.broker.start() }
      try await body(scene)
    }
  }
}

extension Scene {
  /// Waits until the one handoff to a destination has ended or needs a person, and shows it.
  func ended(_ destination: String, within limit: Duration = .seconds(40)) async throws -> JSONValue
  {
    let ends: Set<String> = [
      "succeeded", "failed", "refused", "cancelled", "expired", "outcome_unknown", "needs_user",
    ]
    let handoffs = try await broker.wait("handoffs", within: limit) { handoffs in
      handoffs.elements.contains {
        $0["destination"]?.text == destination && ends.contains($0["status"]?.text ?? "")
      }
    }
    let handoff = handoffs.elements.first { $0["destination"]?.text == destination }
    return try await broker.json("show", BytePath(try handoff?.text(of: "id") ?? ""))
  }
}
