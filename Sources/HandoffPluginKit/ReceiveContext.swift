public import HandoffProtocol
public import Paths

/// A step that was recorded for a handoff.
public struct RecordedStage: Sendable {
  /// The author's own name for it.
  public let name: String
  /// What was recorded with it.
  public let data: JSONValue
  /// When.
  public let at: Timestamp
}

/// What a destination can ask and tell while it works on one handoff.
public struct ReceiveContext: Sendable {
  /// The configured name of the destination.
  public let destination: DestinationName
  /// The destination's own folder, which outlives the process; leave `handoffs` and `lock` in it alone.
  public let work: BytePath
  /// When the handoff first came here; the same after a restart and for later attempts.
  public let receivedAt: Timestamp
  /// The last recorded step, from an earlier process or attempt; nil the first time.
  public let stage: RecordedStage?

  let channel: any HandoffChannel

  /// Asks the broker where an asset of this handoff can be read, and checks it against the
  /// destination's constraints.
  ///
  /// - Throws: `ResultError` with the broker's reason (`asset_deleted`, `access_limited`, `expired`, …)
  ///   or the constraint that is not met.
  public func resolve(_ identifier: LocalIdentifier) async throws -> GrantedAsset {
    try await channel.resolve(identifier)
  }

  /// Gives the broker a file that was derived from an asset of this handoff, as a proxy or a poster.
  ///
  /// The broker keeps a copy in its library, for destinations that use it instead of the original; the file
  /// itself is yours again when this returns. The same name with other bytes takes the place of the former.
  /// Register before the handoff ends: who waits for the rendition goes on with the success.
  ///
  /// - Parameters:
  ///   - name: as configured elsewhere (`use = "proxy"`).
  ///   - path: a finished file in ``work`` or in a folder of the destination's `write` list, absolute and
  ///     without a symbolic link; its extension is kept.
  ///   - identifier: the asset.
  /// - Returns: the digest and size of what the library has.
  /// - Throws: `ResultError` with the broker's reason (`no_space`, `access_limited`, `asset_deleted`, …);
  ///   ``RegisteringUnsupported`` where the broker is too old for it.
  @discardableResult
  public func register(
    _ name: RenditionName,
    _ path: BytePath,
    of identifier: LocalIdentifier
  ) async throws -> RegisteredRendition {
    try await channel.register(name, path, identifier)
  }

  /// Tells that the work goes on; too frequent calls are dropped.
  ///
  /// Each one restarts the broker's idle timer. It never throws: a handoff does not fail because
  /// nobody hears of its progress.
  ///
  /// - Parameters:
  ///   - fraction: 0 to 1, where it can be told.
  ///   - message: for people.
  public func progress(_ fraction: Double? = nil, _ message: String? = nil) async {
    await channel.progress(fraction, message)
  }

  /// Tells that a person has to do something before the work can go on: sign in again, confirm, make room.
  ///
  /// The broker lists it, and does not take the silence from now on for trouble; the next ``progress(_:_:)``
  /// ends it. Like that it never throws.
  ///
  /// - Parameter need: what the person should do, in one sentence.
  public func needsUser(_ need: String) async {
    await channel.needsUser(need)
  }

  /// Records a step durably, so that it is known after a crash: a remote handle before it is used, an
  /// intention before it is carried out.
  ///
  /// - Throws: when it cannot be written; then the step must not be taken.
  public func record(_ name: String, _ data: JSONValue = .null) async throws {
    try await channel.record(name, data)
  }

  /// Writes a line to the broker's log.
  public func log(_ level: LogLevel, _ message: String) async {
    await channel.log(level, message)
  }
}

/// The broker is of a release that takes no renditions.
public struct RegisteringUnsupported: Error, Sendable {}

/// How much a log line matters.
public enum LogLevel: String, Sendable {
  /// For developers.
  case debug
  /// The course of things.
  case info
  /// Something has changed for a handoff.
  case notice
  /// Will be tried again, or is odd.
  case warning
  /// A person is needed.
  case error
}

/// What stands behind a ``ReceiveContext``.
protocol HandoffChannel: Sendable {
  func resolve(_ identifier: LocalIdentifier) async throws -> GrantedAsset
  func register(
    _ name: RenditionName,
    _ path: BytePath,
    _ identifier: LocalIdentifier
  ) async throws -> RegisteredRendition
  func progress(_ fraction: Double?, _ message: String?) async
  func needsUser(_ need: String) async
  func record(_ name: String, _ data: JSONValue) async throws
  func log(_ level: LogLevel, _ message: String) async
}
