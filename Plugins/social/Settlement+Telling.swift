import HandoffPluginKit
import HandoffProtocol

extension Settlement {
  var pace: Pace { settings.pace(context) }

  /// Certainly nothing was published: the step is taken back, so that a later attempt starts anew.
  func giveUp(_ prepared: JSONValue, _ error: ResultError) async throws -> Never {
    try await note(.uploaded(prepared))
    var error = error
    error.effect = .none
    throw error
  }

  /// Records what only spares a later look: where it cannot be written, the step before stands, which is the
  /// more careful one.
  func note(_ stage: PublicationStage) async throws {
    do {
      try await context.record(stage, at: settings.place)
    } catch {
      await context.log(.warning, "the step “\(stage.name)” cannot be recorded: \(error)")
    }
  }

  func rest(_ seconds: Double, _ part: Double, _ message: String) async throws {
    do {
      try await pace.rest(seconds, part, message)
    } catch {
      throw Self.cancelled
    }
  }

  static var cancelled: ResultError {
    ResultError(
      .interrupted,
      "given up while it was published",
      effect: .unknown,
      remedy: "Look at the account: what is there, or scheduled, stays until it is deleted there."
    )
  }

  func unknown(_ reason: String, remedy: String? = nil) -> ResultError {
    ResultError(
      .network,
      "it may have been published: \(reason)",
      effect: .unknown,
      remedy: remedy ?? "Look at the account; then retry, or adopt what is there."
    )
  }
}
