public import HandoffProtocol
public import Paths

/// A program that serves one destination: what an author writes.
///
/// Mark the type with `@main`; the kit then speaks the plugin protocol with the broker that started the
/// program. ``receive(_:context:)`` runs once for each handoff, several at once up to
/// ``DestinationDescriptor/concurrency``.
///
/// ```swift
/// @main
/// struct Shelf: Destination {
///   struct Settings: Decodable, Sendable { var folder: String }
///   static let descriptor = DestinationDescriptor(name: "shelf", version: "1.0", isIdempotent: true)
///   let settings: Settings
///
///   init(settings: Settings, context: DestinationContext) { self.settings = settings }
///
///   func receive(_ handoff: ReceivedHandoff, context: ReceiveContext) async throws -> Receipt {
///     let asset = try await context.resolve(handoff.localIdentifiers[0])
///     // … read asset.path …
///     return Receipt(["path": .string(settings.folder)])
///   }
/// }
/// ```
public protocol Destination: Sendable {
  /// The destination's `settings` table; unknown members are ignored by the standard decoding.
  associatedtype Settings: Decodable & Sendable

  /// Name, version and what the destination takes.
  static var descriptor: DestinationDescriptor { get }

  /// Makes the destination once, before the first handoff.
  ///
  /// - Throws: what makes the settings unusable; a thrown `ResultError` is told as it is, everything
  ///   else as `not_configured`.
  init(settings: Settings, context: DestinationContext) async throws

  /// Does what the destination is for with one handoff, and says what came of it.
  ///
  /// After a crash, and when a person has a failed handoff tried again, it may run again for the same
  /// handoff: ``ReceiveContext/stage`` then holds what was last recorded.
  ///
  /// - Throws: `ResultError` for a failure whose effect is known; `CancellationError` when the handoff
  ///   was given up. Everything else is a failure with effect `unknown` (`none` where the destination is
  ///   idempotent).
  func receive(_ handoff: ReceivedHandoff, context: ReceiveContext) async throws -> Receipt

  /// Says what became of a handoff whose work a crash or shutdown has interrupted.
  ///
  /// Unless it is written, an idempotent destination does the handoff again, and for every other one
  /// nobody knows.
  func resume(
    _ handoff: ReceivedHandoff,
    context: ReceiveContext
  ) async throws -> Resumption

  /// Says what it would change about a handoff, one sentence each, before there is one; throws why it
  /// would not take it. Unless it is written, nothing.
  ///
  /// Nothing may be done here, and no asset can be resolved: what is known of them is given. It is asked
  /// by `handoff send --dry-run`.
  func preflight(
    _ handoff: ReceivedHandoff,
    assets: [ConstrainedAsset]
  ) async throws -> [String]

  /// Says whether handoffs can be taken now; throws why not. Unless it is written, always.
  func checkStatus() async throws

  /// Looks at what it needs: credentials, whether its service is reached, limits, programs, folders. Unless
  /// it is written, at nothing.
  ///
  /// `handoff doctor` asks for it. Nothing may be published or changed; it should take seconds.
  func checks() async -> [DestinationCheck]

  /// Looks again at a handoff that succeeded: is what was done still there, and right?
  ///
  /// `handoff destinations verify` asks for it, where ``DestinationDescriptor/canVerify`` says so. Nothing may be
  /// changed, and no asset can be resolved.
  func verify(_ delivered: VerifyParameters) async throws -> [VerifiedAsset]
}

extension Destination {
  /// Does an idempotent destination's handoff again; otherwise nobody knows.
  public func resume(
    _ handoff: ReceivedHandoff,
    context: ReceiveContext
  ) async throws -> Resumption {
    Self.descriptor.isIdempotent ? .redo : .unknown
  }

  /// Takes everything that meets the constraints, as it is.
  public func preflight(
    _ handoff: ReceivedHandoff,
    assets: [ConstrainedAsset]
  ) async throws -> [String] { [] }

  /// Always ready.
  public func checkStatus() async throws {}

  /// Nothing to look at.
  public func checks() async -> [DestinationCheck] { [] }

  /// Nothing can be looked at again.
  public func verify(_ delivered: VerifyParameters) async throws -> [VerifiedAsset] {
    delivered.assets.map { VerifiedAsset(localIdentifier: $0.localIdentifier, standing: .unknown) }
  }
}

/// What became of a handoff whose work was interrupted.
public enum Resumption: Sendable {
  /// Nothing was done: submitting it again is safe.
  case notReceived
  /// Run ``Destination/receive(_:context:)`` again; it finds what was recorded and goes on from there.
  case redo
  /// It was done after all.
  case finished(Receipt)
  /// It failed, with a known effect.
  case failed(ResultError)
  /// The destination cannot tell: a person decides.
  case unknown
}

/// What a handoff that went well left behind.
public struct Receipt: Sendable, Hashable {
  /// The result's `output`: the destination's own members, for example `url` and `id`.
  public var output: [String: JSONValue]

  /// Makes a receipt.
  public init(_ output: [String: JSONValue] = [:]) {
    self.output = output
  }
}

/// Settings of a destination that has none.
public struct NoSettings: Sendable, Decodable {}

/// What a destination knows of its place before the first handoff.
public struct DestinationContext: Sendable {
  /// The configured name.
  public let name: DestinationName
  /// A folder of its own that outlives the process; the kit keeps its journal there, in `handoffs`.
  public let work: BytePath
  let environment: @Sendable (String) -> String?

  /// The value of an environment variable that the configuration passes on (`env`), for secrets.
  public func environmentVariable(_ name: String) -> String? {
    environment(name)
  }
}
