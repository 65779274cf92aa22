import HTTPClient
import HandoffPluginKit
import HandoffProtocol

/// A wiki that runs MediaWiki, as Wikimedia Commons does, and its `api.php`.
///
/// A file comes in chunks into the account's stash and is published from there under a name. Three things keep
/// it from being published twice: a key of the stash can be used up once; a second file of the same bytes under
/// the same name is no change, and the name is recorded before; and the wiki warns of the same bytes under any
/// name, which is never ignored.
struct MediaWikiPlatform: Platform {
  static let name = "mediawiki"
  static var settingsProperties: [String: JSONValue] { MediaWikiSettings.schema }

  let settings: MediaWikiSettings
  let session: MediaWikiSession

  init(_ settings: PlatformSettings) throws(ResultError) {
    self.settings = try MediaWikiSettings(settings)
    session = MediaWikiSession(
      api: self.settings.api,
      user: self.settings.user,
      secret: settings.token
    )
  }

  /// Whether it was published is looked for.
  var keyLifetime: Duration { .zero }

  func limits() async throws -> Constraints {
    try await telling("asking for the limits") {
      try await MediaWikiSite(session).constraints
    }
  }

  func account() async throws -> String {
    try await telling("asking for the account") {
      let answer = try await session.read([
        "action": "query", "meta": "userinfo", "uiprop": "rights|blockinfo",
      ])
      let user = answer["query"]?["userinfo"]
      let name = user?["name"]?.text ?? "somebody"
      if let reason = user?["blockreason"]?.text {
        throw MediaWikiFault("blocked", "\(name) is blocked: \(reason)")
      }
      guard case .array(let rights) = user?["rights"] ?? .null else { return name }
      let missing = ["upload", "edit", "createpage"].filter { !rights.contains(.string($0)) }
      guard missing.isEmpty else {
        throw MediaWikiFault(
          "permissiondenied",
          "\(name) lacks the rights: \(missing.joined(separator: ", "))"
        )
      }
      return name
    }
  }

  func prepare(_ upload: Upload) async throws -> JSONValue {
    try await telling("uploading") {
      let site = try await MediaWikiSite(session)
      try site.check(upload)
      let sha1 = try await MediaWikiDigest.sha1(of: upload.asset)
      let ending = upload.contentType.ending
      let twins = try await MediaWikiFiles(session: session).twins(sha1)
      if let twin = try settings.twin(twins, upload.post) {
        let place = MediaWikiPrepared.Place.published(twin)
        return MediaWikiPrepared(sha1: sha1, ending: ending, name: twin.name, place: place).value
      }
      let recorded = MediaWikiPrepared(upload.recorded).flatMap { $0.sha1 == sha1 ? $0 : nil }
      var known = MediaWikiPrepared(
        sha1: sha1,
        ending: ending,
        name: try await name(upload.post, ending, recorded?.name),
        place: .stashed(key: "")
      )
      let stash = MediaWikiStash(
        session: session,
        upload: upload,
        known: known,
        smallestChunk: site.smallestChunk,
        pauses: settings.pauses
      )
      known.place = try await stash.run(
        from: try await remaining(recorded),
        chunkSize: settings.chunkSize
      )
      return known.value
    }
  }

  /// What is left of an interrupted upload: nothing where the stash has lost it.
  private func remaining(_ recorded: MediaWikiPrepared?) async throws -> MediaWikiPrepared.Place? {
    switch recorded?.place {
    // The next chunk tells.
    case .chunks?: return recorded?.place
    case .assembling?, .stashed?:
      guard let recorded, case .lost = try await standing(recorded) else { return recorded?.place }
      return nil
    case .published?, nil: return nil
    }
  }

  func readiness(of prepared: JSONValue) async throws -> Readiness {
    guard let prepared = MediaWikiPrepared(prepared) else { return .lost }
    return try await telling("waiting for the upload") { try await standing(prepared) }
  }

  /// Whether the stash has the whole file.
  func standing(_ prepared: MediaWikiPrepared) async throws -> Readiness {
    let status = MediaWikiStatus(session: session)
    switch prepared.place {
    case .published: return .ready
    case .chunks: return .lost
    case .stashed(let key): return try await status.sha1(ofStashed: key) == nil ? .lost : .ready
    case .assembling(let key):
      switch try await status.of(key) {
      case .working(let stage): return .working("the wiki is \(stage)", retryAfter: nil)
      case .stashed(let key): return try await status.sha1(ofStashed: key) == nil ? .lost : .ready
      case .published, .unknown: return .lost
      case .failed(let fault): throw fault
      }
    }
  }

  /// A name that is free, the same as before where it still is.
  private func name(_ post: Post, _ ending: String, _ recorded: String?) async throws -> String {
    let files = MediaWikiFiles(session: session)
    for name in [recorded].compactMap({ $0 }) + settings.fileName.candidates(post, ending: ending) {
      if case .free(let name) = try await files.meaning(of: name) { return name }
    }
    throw ResultError(
      .unsupportedMedia,
      "the wiki has another file under each name that was tried for \(post.title.prefix(100))",
      effect: .none,
      remedy: "Give it another title, or set settings.filename."
    )
  }

  /// What a step throws, in the protocol's words: nothing is published by it.
  func telling<Value: Sendable>(
    _ doing: String,
    _ step: () async throws -> Value
  ) async throws -> Value {
    do {
      return try await step()
    } catch let fault as MediaWikiFault {
      throw fault.error(doing)
    }
  }
}

extension MediaWikiSettings {
  /// The page that is the result without another upload.
  ///
  /// - Throws: the refusal of a twin.
  func twin(_ twins: [MediaWikiFile], _ post: Post) throws(ResultError) -> MediaWikiFile? {
    if let own = twins.first(where: { $0.isOf(post) }) { return own }
    guard let other = twins.first else { return nil }
    switch duplicates {
    case .adopt: return other
    case .refuse:
      throw ResultError(
        .unsupportedMedia,
        "the wiki has the same bytes already: \(other.page) by \(other.publisher)",
        effect: .none,
        remedy: "Use that page; settings.duplicates = \"adopt\" takes it as the result."
      )
    }
  }
}
