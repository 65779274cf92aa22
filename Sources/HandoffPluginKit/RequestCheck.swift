import HandoffProtocol

/// The receiver's own look at what it is given, with the protocol's checks: its invariants are its own,
/// whatever the broker checked.
struct RequestCheck {
  let validation: RequestValidation

  init(constraints: Constraints) {
    validation = RequestValidation(
      constraints: constraints,
      versions: DestinationDescriptor.protocolVersions
    )
  }

  /// What can be told of the request alone.
  func check(_ request: HandoffRequest, now: Timestamp) throws(ResultError) {
    if let violation = validation.violation(by: request, now: now) { throw violation }
  }

  /// What can be told of an asset once it is resolved.
  func check(_ asset: GrantedAsset) throws(ResultError) {
    if let violation = validation.violation(by: asset.constrained) { throw violation }
  }

  /// What the broker says of the assets before anything is submitted.
  func check(_ assets: [ConstrainedAsset]) throws(ResultError) {
    if let violation = validation.violation(by: assets) { throw violation }
  }

  /// A handoff's id becomes a file name.
  static func isFileName(_ id: String) -> Bool {
    let allowed = id.utf8.allSatisfy { $0.isNameByte || $0 == UInt8(ascii: ".") }
    return allowed && (1...128).contains(id.utf8.count) && id.utf8.first != UInt8(ascii: ".")
  }
}
