import HandoffPluginKit
import HandoffProtocol

/// How long is waited, and that the broker hears of it.
struct Pace: Sendable {
  let context: ReceiveContext
  /// Seconds between two questions.
  let interval: Double

  /// The broker's idle timer, 10 minutes where nothing is said, must not run out.
  private static let breath = 30.0
  /// A moment this near is waited for here: to ask the service to publish then would be too late.
  private static let margin = Duration.seconds(10)

  /// What is waited after each failure in a row; 1, 2, 4, 8 and 15 seconds with the usual interval of 2.
  var pauses: [Double] { [0.5, 1, 2, 4, 7.5].map { $0 * interval } }
  var longestPause: Double { 7.5 * interval }

  /// Waits, and tells that it does.
  func rest(_ seconds: Double, _ part: Double, _ message: String) async throws {
    var left = seconds
    repeat {
      await context.progress(part, message)
      try await Task.sleep(for: .seconds(min(left, Self.breath)))
      left -= Self.breath
    } while left > 0
  }

  /// A post whose moment the service can still be asked for; one that is too near for that is waited for.
  func timed(_ post: Post, _ platform: any Platform) async throws -> Post {
    guard let moment = post.scheduledAt, let lead = type(of: platform).scheduleLead else {
      return post
    }
    let ahead = moment.since(SystemMoment.now())
    if ahead >= lead + Self.margin { return post }
    if ahead > .zero {
      try await rest(Double(ahead.wholeMilliseconds) / 1000, 0.85, "waiting for scheduled_at")
    }
    var post = post
    post.scheduledAt = nil
    return post
  }
}
