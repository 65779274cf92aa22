/// The protocol version that a sender and a receiver use with each other: the highest that both know.
public struct VersionAgreement: Hashable, Sendable {
  /// The versions that the sender writes, narrowed by the destination's configuration.
  public let sender: [Int]
  /// The versions that the receiver says it reads; where nobody asks it, those of the configuration.
  public let receiver: [Int]
  /// The one that is used.
  public let version: Int

  /// Agrees.
  ///
  /// - Parameters:
  ///   - written: the versions that the sender writes.
  ///   - configured: the destination's `protocol_versions`, which narrow what the receiver says.
  ///   - receiver: the versions that the receiver says it reads; nil where it is not asked, so that the
  ///     configuration alone counts.
  /// - Throws: `version_incompatible` with both sides' versions where there is none in common.
  public init(
    written: [Int] = HandoffRequest.supportedVersions,
    configured: [Int],
    receiver: [Int]?
  ) throws(ResultError) {
    sender = written.filter(configured.contains)
    self.receiver = receiver ?? configured
    guard let version = sender.filter(self.receiver.contains).max() else {
      throw ResultError(
        .versionIncompatible,
        "no protocol version in common: \(Self.sides(sender, self.receiver))",
        effect: .none,
        retry: .afterFix,
        remedy: "Install a broker and a receiver with a version in common, or correct "
          + "`protocol_versions`."
      )
    }
    self.version = version
  }

  /// Both sides' versions, for people.
  public var sides: String { Self.sides(sender, receiver) }

  private static func sides(_ sender: [Int], _ receiver: [Int]) -> String {
    "the broker writes \(shown(sender)), the receiver reads \(shown(receiver))"
  }

  /// A long list is cut: a receiver may name what it likes.
  private static func shown(_ versions: [Int]) -> String {
    if versions.isEmpty { return "none" }
    let first = versions.prefix(8).map(String.init).joined(separator: ", ")
    return versions.count > 8 ? "\(first), … (\(versions.count) in all)" : first
  }
}
