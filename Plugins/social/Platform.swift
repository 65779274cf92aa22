import HandoffPluginKit
import HandoffProtocol

/// A service that publishes videos: all that a further one has to write, in one file.
///
/// ``Publication`` takes the steps and records each before the next one: prepare (the service has the bytes,
/// nothing can be seen), publish (at most once), observe (until the service shows it). A platform says what
/// its service answered; what to do about a lost answer is decided in one place for all.
///
/// Every method may throw `ResultError` for what the service refused with certainty, `HTTPFailure` where there
/// was no answer, and `CancellationError`.
protocol Platform: Sendable {
  /// What `settings.platform` says.
  static var name: String { get }
  /// The JSON Schemas of its own members of the settings, besides those that all platforms have.
  static var settingsProperties: [String: JSONValue] { get }
  /// What ``Post/visibility`` may be; empty where everything that is published is equally visible.
  static var visibilities: [String] { get }
  /// How far ahead ``Post/scheduledAt`` has to be; nil where the service publishes at no set time.
  static var scheduleLead: Duration? { get }

  /// - Throws: `not_configured` for settings that cannot work; nothing is asked of the service.
  init(_ settings: PlatformSettings) throws(ResultError)

  /// For how long the service answers a repeated ``publish(_:_:)`` of the same ``Post/key`` with what the first
  /// one made; zero where it would publish again.
  var keyLifetime: Duration { get }

  /// Whether it is looked for (``find(_:_:since:)``) before a publication whose answer was lost is repeated with
  /// the same key: right where some servers of the kind do not know the key.
  var looksBeforeRepeating: Bool { get }

  /// What the service takes, asked of it where it tells; missing members limit nothing.
  func limits() async throws -> Constraints

  /// What it takes besides, which ``Constraints`` cannot say.
  func furtherLimits() async throws -> FurtherLimits

  /// Whose credentials they are, for people; throws what is wrong with them.
  func account() async throws -> String

  /// Brings the bytes to the service, goes on with an interrupted upload where the service can, and returns
  /// what ``publish(_:_:)`` needs to find them. Nothing can be seen by anybody yet.
  func prepare(_ upload: Upload) async throws -> JSONValue

  /// Whether what was prepared can be published now.
  func readiness(of prepared: JSONValue) async throws -> Readiness

  /// Publishes what was prepared: the one step that can be seen.
  func publish(_ post: Post, _ prepared: JSONValue) async throws -> PublishAnswer

  /// How far the service is with what it has taken (``PublishAnswer/pending(_:retryAfter:)``).
  func observe(_ post: Post, _ pending: JSONValue) async throws -> PublishAnswer

  /// Looks for what an earlier ``publish(_:_:)`` may have published.
  ///
  /// - Parameters:
  ///   - post: as it was, or would have been, published.
  ///   - prepared: what was published.
  ///   - since: when it may first have been published.
  /// - Returns: ``Finding/absent`` only where that is certain, since it is published then.
  /// - Throws: where it could not be looked for.
  func find(_ post: Post, _ prepared: JSONValue, since: Timestamp) async throws -> Finding
}

extension Platform {
  /// One kind of visibility.
  static var visibilities: [String] { [] }
  /// Nothing is scheduled.
  static var scheduleLead: Duration? { nil }
  /// The key is trusted.
  var looksBeforeRepeating: Bool { false }
  /// None.
  func furtherLimits() async throws -> FurtherLimits { FurtherLimits() }

  /// The service publishes at once.
  func observe(_ post: Post, _ pending: JSONValue) async throws -> PublishAnswer {
    .unknown("nothing was pending")
  }

  /// What was uploaded is ready.
  func readiness(of prepared: JSONValue) async throws -> Readiness { .ready }
}

/// Limits of a service that ``Constraints`` has no words for; nil limits nothing.
struct FurtherLimits: Hashable, Sendable {
  /// Of ``Post/text``, as people count characters.
  var characters: Int?
  /// What a link counts, whatever its length.
  var charactersPerLink: Int?
  /// Width times height of the picture.
  var pixels: Int?
}

/// An upload, and what an interrupted one has left.
struct Upload: Sendable {
  let asset: GrantedAsset
  let post: Post
  /// What ``keep`` last recorded for these bytes in an earlier process or attempt.
  let recorded: JSONValue?
  /// Records durably how far it came, before the next step: a remote handle before it is used.
  let keep: @Sendable (JSONValue) async throws -> Void
  /// Tells the part that is sent, 0 to 1.
  let progress: @Sendable (Double) async -> Void

  /// The media type and file ending of the asset's container.
  var contentType: (name: String, ending: String) {
    switch asset.container {
    case "mov": ("video/quicktime", "mov")
    case "webm": ("video/webm", "webm")
    case "matroska": ("video/x-matroska", "mkv")
    case "mpegts": ("video/mp2t", "ts")
    case "ogg": ("video/ogg", "ogv")
    case "avi": ("video/x-msvideo", "avi")
    default: ("video/mp4", "mp4")
    }
  }
}

/// What is published, in words; templates are filled in already.
struct Post: Sendable {
  /// A key for services that do a request only once: 64 hexadecimal digits, the same over attempts.
  ///
  /// It is no secret, and may be put where ``Platform/find(_:_:since:)`` finds it again.
  let key: String
  /// One line; never empty: the export's name where nobody gave one.
  let title: String
  /// The text that goes with it; may be empty.
  let text: String
  /// The sender's description; may be empty.
  let description: String
  /// Without `#`.
  let tags: [String]
  /// ISO 639 code.
  let language: String?
  /// What the picture shows, for those who do not see it.
  let altText: String?
  /// In the platform's own words.
  let visibility: String?
  /// When the service itself shall publish it, where the sender asked for that.
  var scheduledAt: Timestamp?
  /// The sender's own members.
  let metadata: JSONValue?
}

/// Whether an upload can be published.
enum Readiness: Sendable {
  case ready
  /// The service works on it; asked again after so many seconds, or a while.
  case working(String, retryAfter: Int?)
  /// The service does not know it any more: it has to be uploaded again.
  case lost
}

/// What the service said to publishing.
enum PublishAnswer: Sendable {
  case published(Receipt)
  /// It is taken and will be published: ask with this again.
  case pending(JSONValue, retryAfter: Int?)
  /// Certainly not published by this request.
  case refused(ResultError)
  /// Nobody knows: the answer was lost, or cannot be read.
  case unknown(String)
}

/// What looking for an earlier publication has shown.
enum Finding: Sendable {
  case published(Receipt)
  /// It has been taken, and is not published yet.
  case pending(JSONValue)
  /// Certainly not published: to publish is safe.
  case absent
  /// It cannot be told.
  case unknown(String)
}
