import HandoffProtocol

/// What a server takes, as its instance document says: version 2, version 1, or that of Pleroma.
struct MastodonInstance: Sendable {
  let constraints: Constraints
  let further: FurtherLimits

  init(_ document: JSONValue) {
    let configuration = document["configuration"]
    let media = configuration?["media_attachments"]
    var constraints = Constraints()
    constraints.maxSize = Self.positive(media?["video_size_limit"] ?? document["upload_limit"])
    constraints.containers = Self.containers(media?["supported_mime_types"])
    self.constraints = constraints
    var further = FurtherLimits()
    let statuses = configuration?["statuses"]
    further.characters = Self.positive(
      statuses?["max_characters"] ?? document["max_toot_chars"]
    ).map { Int($0) }
    further.charactersPerLink = Self.positive(statuses?["characters_reserved_per_url"])
      .map { Int($0) }
    further.pixels = Self.positive(media?["video_matrix_limit"]).map { Int($0) }
    self.further = further
  }

  private static let known = [
    "video/mp4": "mp4", "video/quicktime": "mov", "video/webm": "webm",
    "video/x-matroska": "matroska", "video/matroska": "matroska", "video/ogg": "ogg",
    "video/x-msvideo": "avi", "video/mp2t": "mpegts",
  ]

  /// The containers of the types that are taken; nil where the server does not say.
  private static func containers(_ types: JSONValue?) -> [String]? {
    guard case .array(let list)? = types, !list.isEmpty else { return nil }
    var containers: [String] = []
    for type in list {
      guard let container = type.text.flatMap({ known[$0] }) else { continue }
      if !containers.contains(container) { containers.append(container) }
    }
    return containers
  }

  /// A limit past every video and text is none; sums of it would not fit a number.
  private static func positive(_ value: JSONValue?) -> Int64? {
    switch value {
    case .integer(let number) where number > 0 && number < 1 << 50: number
    case .number(let number) where number >= 1 && number < 1e15: Int64(number)
    default: nil
    }
  }
}
