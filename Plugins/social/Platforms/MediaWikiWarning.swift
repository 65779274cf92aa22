import HandoffProtocol

/// What a wiki warns of instead of publishing; none of it is ever ignored.
struct MediaWikiWarning: Sendable {
  enum Advice: Sendable {
    /// Another name will do: the given one, or the next.
    case rename(String?)
    /// The bytes are there already: whose are they?
    case look
    case refuse
  }

  private let warnings: [String: JSONValue]

  init(_ value: JSONValue?) {
    guard case .object(let members) = value ?? .null else {
      warnings = [:]
      return
    }
    warnings = members
  }

  /// A name that belongs to something else, or did.
  private static let names: Set<String> = [
    "exists", "exists-normalized", "page-exists", "was-deleted", "thumb", "thumb-name",
    "bad-prefix", "duplicateversions",
  ]
  private static let bytes: Set<String> = ["duplicate", "nochange"]

  var advice: Advice {
    let kinds = Set(warnings.keys)
    if !kinds.isDisjoint(with: Self.bytes) { return .look }
    guard !kinds.isEmpty, kinds.isSubset(of: Self.names.union(["badfilename"])) else {
      return .refuse
    }
    if kinds == ["badfilename"] { return .rename(warnings["badfilename"]?.text) }
    return .rename(nil)
  }

  /// What is told where nothing helps.
  var error: ResultError {
    if let name = warnings["duplicate-archive"]?.text {
      return ResultError(
        .unsupportedMedia,
        "the same video was on the wiki and was deleted\(name.isEmpty ? "" : " (\(name))")",
        effect: .none,
        remedy: "Ask the wiki's administrators to restore it."
      )
    }
    return ResultError(
      .unsupportedMedia,
      "the wiki warns: \(warnings.keys.sorted().joined(separator: ", "))",
      effect: .none
    )
  }
}
