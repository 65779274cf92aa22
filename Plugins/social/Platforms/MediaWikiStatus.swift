import HandoffProtocol

/// How far a wiki is with what it has put off.
struct MediaWikiStatus: Sendable {
  enum Standing: Sendable {
    case working(String)
    /// The chunks are one file, under this key.
    case stashed(key: String)
    /// It says that a page shows it.
    case published
    /// It says that it has given up, which need not be true of publishing.
    case failed(MediaWikiFault)
    /// It knows nothing of it; it remembers for a day.
    case unknown
  }

  let session: MediaWikiSession

  func of(_ key: String) async throws -> Standing {
    let answer: JSONValue
    do {
      answer = try await session.write([
        "action": "upload", "checkstatus": "1", "filekey": key,
      ])
    } catch let fault as MediaWikiFault where fault.code == "missingresult" {
      return .unknown
    } catch let fault as MediaWikiFault
      where fault.code == "stashfailed" || fault.kind == .media
    {
      return .failed(Self.reason(fault))
    }
    let status = answer["upload"]
    let stage = status?["stage"]?.text ?? "working"
    switch status?["result"]?.text {
    case "Poll": return .working(stage)
    case "Success":
      if stage == "publish" { return .published }
      return status?["filekey"]?.text.map { .stashed(key: $0) } ?? .unknown
    case "Failure", "Warning":
      return .failed(MediaWikiFault("stashfailed", "the wiki has given up \(stage)"))
    default: return .unknown
    }
  }

  /// What is wrong with the bytes comes under the same code as trouble of the wiki's own, and with its text only.
  static func reason(_ fault: MediaWikiFault) -> MediaWikiFault {
    guard fault.code == "stashfailed",
      ["verification", "was empty", "too large", "banned"].contains(where: fault.info.contains)
    else { return fault }
    return MediaWikiFault("verification-error", fault.info, details: fault.details)
  }

  /// Of a file in the stash; nil where it is not there.
  func sha1(ofStashed key: String) async throws -> String? {
    do {
      let answer = try await session.read([
        "action": "query", "prop": "stashimageinfo", "siifilekey": key, "siiprop": "sha1",
      ])
      guard case .array(let list) = answer["query"]?["stashimageinfo"] ?? .null else { return nil }
      return list.first?["sha1"]?.text
    } catch let fault as MediaWikiFault where fault.kind == .lost {
      return nil
    }
  }
}
