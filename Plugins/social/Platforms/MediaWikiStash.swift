import HTTPClient
import HandoffPluginKit
import HandoffProtocol

/// Brings a file in chunks into the account's stash, where nobody else sees it.
struct MediaWikiStash: Sendable {
  private static let usualChunk: Int64 = 8 << 20
  /// How often the wiki may say that it has no more than before.
  private static let mostSetbacks = 5

  let session: MediaWikiSession
  let upload: Upload
  /// What is known of it; its place is where it begins.
  let known: MediaWikiPrepared
  let smallestChunk: Int64
  /// Waited after each trouble in a row.
  let pauses: [Duration]

  /// What a chunk has come to.
  private enum Step {
    case next(MediaWikiPrepared.Place)
    case lost
    /// It was too large for the server.
    case shrink(Int64)
  }

  /// Goes on from a place, or from the beginning, in chunks of the size that the settings say.
  func run(from place: MediaWikiPrepared.Place?, chunkSize: Int64?) async throws
    -> MediaWikiPrepared.Place
  {
    var place = place
    var size = max(chunkSize ?? Self.usualChunk, smallestChunk)
    var beginnings = 0
    var setbacks = 0
    while true {
      if let place {
        switch place {
        case .assembling, .stashed, .published: return place
        case .chunks: break
        }
      }
      switch try await persistently({ try await chunk(at: place, size) }) {
      case .next(let next):
        if next.offset <= place?.offset ?? 0 { setbacks += 1 }
        guard setbacks <= Self.mostSetbacks else {
          throw MediaWikiFault("stash-stuck", "the wiki takes no more of the upload")
        }
        place = next
        try await keep(next)
      case .shrink(let limit):
        guard size > smallestChunk, limit < size else {
          throw ResultError.notConfigured(
            "the server takes no request of \(size) bytes",
            remedy:
              "Its operator has to raise PHP's upload_max_filesize and post_max_size, or lower "
              + "$wgMinUploadChunkSize."
          )
        }
        size = max(smallestChunk, limit)
      case .lost:
        beginnings += 1
        guard beginnings <= 2 else {
          throw MediaWikiFault("stash-lost", "the wiki loses what is uploaded")
        }
        // The last chunk has made one file of them, under another key, and only the answer was lost.
        place = try await whole()
        if let place { try await keep(place) }
      }
    }
  }

  private func keep(_ place: MediaWikiPrepared.Place) async throws {
    var known = known
    known.place = place
    try await upload.keep(known.value)
  }

  /// A chunk is sent again where the line fails for a moment: the wiki knows how much it has.
  private func persistently(_ step: () async throws -> Step) async throws -> Step {
    var pauses = pauses.makeIterator()
    while true {
      do {
        return try await step()
      } catch let failure as HTTPFailure {
        guard failure.kind != .request, failure.kind != .tls, let pause = pauses.next() else {
          throw failure
        }
        try await Task.sleep(for: pause)
      } catch let fault as MediaWikiFault where fault.code.hasPrefix("http5") {
        guard let pause = pauses.next() else { throw fault }
        try await Task.sleep(for: pause)
      }
    }
  }

  private func chunk(at place: MediaWikiPrepared.Place?, _ size: Int64) async throws -> Step {
    let total = upload.asset.size
    var parameters = [
      // It decides nothing here: a stash is no page, and the warnings come again when it is published.
      "ignorewarnings": "1",
      "action": "upload", "stash": "1", "async": "1", "filesize": String(total),
      // Of its own, so that no warning is about another file.
      "filename": "Handoff \(upload.post.key.prefix(32)).\(known.ending)",
    ]
    var offset: Int64 = 0
    if case .chunks(let key, let reached) = place {
      offset = reached
      parameters["filekey"] = key
    }
    parameters["offset"] = String(offset)
    let count = min(size, total - offset)
    let progress = upload.progress
    let start = offset
    let sending = MediaWikiSession.Sending(
      file: HTTPFileSlice(upload.asset.path, offset: offset, count: count),
      isSlow: offset + count == total
    ) { part in await progress((Double(start) + part * Double(count)) / Double(total)) }
    do {
      let answer = try await session.write(parameters, sending)
      return .next(try Self.place(answer["upload"], parameters["filekey"], total))
    } catch let fault as MediaWikiFault {
      return try await step(after: fault, key: parameters["filekey"], offset, count)
    }
  }

  /// What the answer to a chunk says.
  private static func place(
    _ answer: JSONValue?,
    _ known: String?,
    _ total: Int64
  ) throws(MediaWikiFault) -> MediaWikiPrepared.Place {
    guard let key = answer?["filekey"]?.text ?? known, !key.isEmpty else {
      throw MediaWikiFault("nokey", "the wiki names no key of the upload")
    }
    switch answer?["result"]?.text {
    case "Success": return .stashed(key: key)
    case "Poll": return .assembling(key: key)
    case "Continue":
      let text = answer?["offset"]?.text.flatMap { Int64($0) }
      if let offset = answer?["offset"]?.integer ?? text, offset > 0, offset < total {
        return .chunks(key: key, offset: offset)
      }
    default: break
    }
    throw MediaWikiFault("noresult", "the wiki says nothing of what it did with the upload")
  }

  private func step(
    after fault: MediaWikiFault,
    key: String?,
    _ offset: Int64,
    _ count: Int64
  ) async throws -> Step {
    switch fault.code {
    case "badupload":
      guard let limit = fault.number("size"), limit > 0 else { throw fault }
      return .shrink(min(limit, count - 1))
    case "http413", "api-help":
      // PHP throws away what is larger than it takes, the parameters with it.
      return .shrink(count / 2)
    case "stashfailed":
      guard let key else { throw MediaWikiStatus.reason(fault) }
      if let reached = fault.number("offset"), reached != offset, reached > 0,
        reached < upload.asset.size
      {
        return .next(.chunks(key: key, offset: reached))
      }
      return try await standing(key, fault)
    default:
      guard fault.kind == .lost else { throw fault }
      return .lost
    }
  }

  /// The wiki wants no more of it: all was there already, or it has failed.
  private func standing(_ key: String, _ fault: MediaWikiFault) async throws -> Step {
    switch try await MediaWikiStatus(session: session).of(key) {
    case .working: return .next(.assembling(key: key))
    case .stashed(let key): return .next(.stashed(key: key))
    case .published, .unknown: return .lost
    case .failed(let reason): throw reason
    }
  }

  /// The whole file in the stash, if it is there.
  private func whole() async throws -> MediaWikiPrepared.Place? {
    let answer = try await session.read([
      "action": "query", "list": "mystashedfiles", "msfprop": "size", "msflimit": "max",
    ])
    guard case .array(let list) = answer["query"]?["mystashedfiles"] ?? .null else { return nil }
    let keys = list.filter {
      $0["status"]?.text == "finished" && $0["size"]?.integer == upload.asset.size
    }.compactMap { $0["filekey"]?.text }
    for key in keys.reversed().prefix(5) {
      let status = MediaWikiStatus(session: session)
      if try await status.sha1(ofStashed: key) == known.sha1 { return .stashed(key: key) }
    }
    return nil
  }
}
