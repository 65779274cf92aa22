import HandoffProtocol

/// How far an upload came, as it is recorded.
struct MediaWikiPrepared: Sendable {
  /// Where the bytes are.
  enum Place: Sendable {
    /// A part of them is in the stash: the next chunk begins at the offset.
    case chunks(key: String, offset: Int64)
    /// All are there, and the wiki joins them.
    case assembling(key: String)
    /// They are one file in the stash, which nobody but the account can see.
    case stashed(key: String)
    /// The wiki has them on a page already.
    case published(MediaWikiFile)

    /// How many bytes the wiki has.
    var offset: Int64 {
      guard case .chunks(_, let offset) = self else { return .max }
      return offset
    }
  }

  /// Of the whole file, in hexadecimal: how a wiki knows contents.
  let sha1: String
  /// The file's ending.
  let ending: String
  /// What the file will be called, without its namespace.
  let name: String
  var place: Place

  init(sha1: String, ending: String, name: String, place: Place) {
    self.sha1 = sha1
    self.ending = ending
    self.name = name
    self.place = place
  }

  /// Reads what was recorded; nil for nothing.
  init?(_ value: JSONValue?) {
    guard let sha1 = value?["sha1"]?.text, let ending = value?["ending"]?.text,
      let name = value?["name"]?.text
    else { return nil }
    self.init(sha1: sha1, ending: ending, name: name, place: .stashed(key: ""))
    if let file = value?["file"].flatMap(MediaWikiFile.init(recorded:)) {
      place = .published(file)
      return
    }
    guard let key = value?["filekey"]?.text, !key.isEmpty else { return nil }
    switch value?["place"]?.text {
    case "chunks": place = .chunks(key: key, offset: value?["offset"]?.integer ?? 0)
    case "assembling": place = .assembling(key: key)
    case "stashed": place = .stashed(key: key)
    default: return nil
    }
  }

  var value: JSONValue {
    var members: [String: JSONValue] = [
      "sha1": .string(sha1), "ending": .string(ending), "name": .string(name),
    ]
    switch place {
    case .chunks(let key, let offset):
      members["place"] = .string("chunks")
      members["filekey"] = .string(key)
      members["offset"] = .integer(offset)
    case .assembling(let key):
      members["place"] = .string("assembling")
      members["filekey"] = .string(key)
    case .stashed(let key):
      members["place"] = .string("stashed")
      members["filekey"] = .string(key)
    case .published(let file): members["file"] = file.recorded
    }
    return .object(members)
  }
}
