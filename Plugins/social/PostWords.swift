import HandoffProtocol

/// The rules for the single words of a post, wherever they come from.
enum PostWords {
  /// A word that cannot be.
  struct Wrong: Error {
    let member: String
    /// Goes on after the member's name.
    let reason: String

    init(_ member: String, _ reason: String) {
      self.member = member
      self.reason = reason
    }

    /// What a sender is told; nothing was done.
    var refusal: ResultError {
      ResultError(.malformedRequest, "metadata.\(member) \(reason)", effect: .none)
    }
  }

  private static let mostTags = 30
  private static let longestTag = 100

  static func check(
    visibility: String?,
    _ platform: any Platform.Type
  ) throws(Wrong) {
    guard let visibility else { return }
    let known = platform.visibilities
    guard !known.isEmpty else {
      throw Wrong("visibility", "is given, and \(platform.name) has only one kind")
    }
    guard known.contains(visibility) else {
      throw Wrong("visibility", "is none of \(known.joined(separator: ", "))")
    }
  }

  /// `de`, `pt-BR`, `zh-Hant`.
  static func check(language: String?) throws(Wrong) {
    guard let language else { return }
    let parts = language.split(separator: "-", omittingEmptySubsequences: false)
    let isRight = parts.enumerated().allSatisfy { index, part in
      let length = index == 0 ? 2...3 : 2...8
      let isWord = part.utf8.allSatisfy { byte in
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
          || (index > 0 && (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte))
      }
      return isWord && length.contains(part.utf8.count)
    }
    guard isRight else { throw Wrong("language", "is no language code, as en or pt-BR") }
  }

  /// Tags without `#` and without what cannot stand in one line, each once.
  static func tags(_ given: [String]) throws(Wrong) -> [String] {
    var tags: [String] = []
    for text in given {
      var tag = text.trimmingSpace
      while tag.first == "#" { tag.removeFirst() }
      guard !tag.isEmpty else { continue }
      guard tag.count <= longestTag, !tag.contains(where: \.isNewline) else {
        throw Wrong("tags", "has one that is longer than \(longestTag) characters or than a line")
      }
      if !tags.contains(tag) { tags.append(tag) }
    }
    guard tags.count <= mostTags else { throw Wrong("tags", "are more than \(mostTags)") }
    return tags
  }

  /// A tag as a hashtag: what no hashtag may have joins its words, each with a large letter.
  static func hashtag(_ tag: String) -> String {
    let words = tag.split { !($0.isLetter || $0.isNumber || $0 == "_") }
    guard words.count > 1 else { return words.first.map { "#\($0)" } ?? "" }
    return "#" + words.map { $0.prefix(1).uppercased() + $0.dropFirst() }.joined()
  }
}
