/// How a stand-in's server is, within what the platform's documents allow.
package struct StandInRules: Sendable {
  /// Which instance document it has.
  package enum InstanceDocument: Sendable {
    case version2
    case version1
    case none
  }

  /// How often the state of an upload is "busy" before it is ready; with 0 an upload is ready at once.
  package var processingPolls = 2
  /// Whether a repeated `Idempotency-Key` gets the first status again; some servers ignore it, and refuse a video
  /// that is in a status already with 400.
  package var honoursKeys = true
  /// The access token's.
  package var scopes: Set<String> = ["read", "write"]
  package var instance = InstanceDocument.version2
  /// Of an upload, in bytes.
  package var maxSize: Int64 = 99 << 20
  package var mimeTypes = ["image/png", "video/webm", "video/mp4", "video/quicktime", "video/ogg"]
  /// Width times height.
  package var maxPixels = 8_294_400
  package var maxCharacters = 500
  /// Whether it publishes at a set time; where it does not, it says 501.
  package var schedules = true

  package init() {}

  /// A scope includes what is below it.
  func allow(_ scope: String) -> Bool {
    let whole = scope.split(separator: ":").first.map(String.init) ?? scope
    return scopes.contains(scope) || scopes.contains(whole)
  }
}

extension StandInStep {
  /// What a token must be allowed for it; nil for any token.
  var scope: String? {
    switch self {
    case .upload, .media: "write:media"
    case .publish: "write:statuses"
    case .account: "read:accounts"
    case .list, .scheduled, .scheduledList: "read:statuses"
    case .instance, .application: nil
    }
  }
}
