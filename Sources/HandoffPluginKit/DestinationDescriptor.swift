public import HandoffProtocol

/// What a destination says of itself before it is given anything.
public struct DestinationDescriptor: Sendable {
  /// The program's own name, not the configured one.
  public var name: String
  /// The program's own version.
  public var version: String
  /// What it takes; the broker checks before it submits, the kit checks again.
  public var constraints: Constraints
  /// Doing the same handoff again leaves the same behind: after a crash it is simply done again, and a
  /// failure of unknown kind is safe to try again.
  public var isIdempotent: Bool
  /// ``Destination/verify(_:)`` is written.
  public var canVerify: Bool
  /// How many handoffs run at once; more wait their turn.
  public var concurrency: Int
  /// A JSON Schema of the settings, where there is one.
  public var settingsSchema: JSONValue?

  /// Makes a descriptor.
  public init(
    name: String,
    version: String,
    constraints: Constraints = Constraints(),
    isIdempotent: Bool = false,
    canVerify: Bool = false,
    concurrency: Int = 4,
    settingsSchema: JSONValue? = nil
  ) {
    self.name = name
    self.version = version
    self.constraints = constraints
    self.isIdempotent = isIdempotent
    self.canVerify = canVerify
    self.concurrency = max(1, concurrency)
    self.settingsSchema = settingsSchema
  }

  /// The versions of the request document that the kit reads.
  static let protocolVersions = HandoffRequest.supportedVersions
  /// The optional parts of the protocol that the kit answers.
  static let capabilities = ["cancel", "preflight", "probe", "reconcile", "status"]

  var discovery: Discovery {
    Discovery(
      name: name,
      version: version,
      protocolVersions: Self.protocolVersions,
      constraints: constraints,
      capabilities: Self.capabilities + (canVerify ? ["verify"] : []),
      settingsSchema: settingsSchema
    )
  }
}
