import HTTPClient
import HandoffPluginKit
import HandoffProtocol

extension MediaWikiPlatform {
  /// How often a name is changed on the wiki's word.
  private static let mostNames = 6
  private static let overwriting: Set<String> = [
    "fileexists-forbidden", "fileexists-shared-forbidden",
  ]

  func publish(_ post: Post, _ prepared: JSONValue) async throws -> PublishAnswer {
    guard let prepared = MediaWikiPrepared(prepared) else {
      return .refused(Self.lost("nothing that can be read was recorded"))
    }
    if case .published(let file) = prepared.place { return .published(file.receipt(post)) }
    let key: String
    do {
      // Whatever goes wrong here, nothing was sent that publishes.
      try await session.open()
      guard let found = try await stashKey(of: prepared) else {
        return .refused(Self.lost("the wiki has lost the upload"))
      }
      key = found
    } catch let fault as MediaWikiFault {
      return .refused(fault.error("publishing"))
    } catch let failure as HTTPFailure {
      return .refused(
        ResultError(.network, "publishing: \(failure)", effect: .none, retry: .later)
      )
    }
    return try await publish(post, prepared, key)
  }

  private func publish(
    _ post: Post,
    _ prepared: MediaWikiPrepared,
    _ key: String
  ) async throws -> PublishAnswer {
    var name = prepared.name
    var further = settings.fileName.candidates(post, ending: prepared.ending).filter { $0 != name }
    for _ in 0..<Self.mostNames {
      let answer: JSONValue
      do {
        answer = try await session.write(
          [
            "action": "upload", "filekey": key, "filename": name, "async": "1",
            "comment": settings.page.comment(post), "text": settings.page.text(post),
            "watchlist": "nochange",
          ],
          MediaWikiSession.Sending(isSlow: true)
        )
      } catch let fault as MediaWikiFault where Self.overwriting.contains(fault.code) {
        // Said instead of the warning to an account that may not overwrite, and wants not to.
        if let file = try await holder(of: name, post, prepared) {
          return .published(file.receipt(post))
        }
        guard !further.isEmpty else { return .refused(fault.error("publishing")) }
        name = further.removeFirst()
        continue
      } catch let fault as MediaWikiFault {
        return try await afterFault(fault, post, prepared, key)
      }
      let result = answer["upload"]
      switch result?["result"]?.text {
      case "Success": return Self.published(result, post, prepared)
      case "Poll": return .pending(Self.pending(prepared, key), retryAfter: nil)
      case "Warning":
        // With a warning the wiki has certainly not published.
        let warning = MediaWikiWarning(result?["warnings"])
        switch warning.advice {
        case .rename(let given):
          guard let next = given ?? (further.isEmpty ? nil : further.removeFirst()) else {
            return .refused(warning.error)
          }
          name = next
        case .look:
          return try await looking(post, prepared, otherwise: warning.error)
        case .refuse: return .refused(warning.error)
        }
      default: return .unknown("the wiki says nothing of what it did")
      }
    }
    return .refused(Self.lost("the wiki takes none of the names"))
  }

  /// The file that has a name already, where this handoff has published it.
  private func holder(
    of name: String,
    _ post: Post,
    _ prepared: MediaWikiPrepared
  ) async throws -> MediaWikiFile? {
    let holder = try await telling("asking for a name") {
      try await MediaWikiFiles(session: session).sha1(ofFile: name)
    }
    if let holder, holder != prepared.sha1 { return nil }
    return try await telling("looking for the file") { try await own(post, prepared.sha1) }
  }

  /// The key of the whole file; nil where the stash has it no more.
  private func stashKey(of prepared: MediaWikiPrepared) async throws -> String? {
    switch prepared.place {
    case .stashed(let key): return key
    case .assembling(let key):
      guard case .stashed(let key) = try await MediaWikiStatus(session: session).of(key) else {
        return nil
      }
      return key
    case .chunks, .published: return nil
    }
  }

  private static func published(
    _ result: JSONValue?,
    _ post: Post,
    _ prepared: MediaWikiPrepared
  ) -> PublishAnswer {
    guard let info = result?["imageinfo"],
      let file = MediaWikiFile(info, name: result?["filename"]?.text), file.sha1 == prepared.sha1
    else { return .unknown("the wiki shows other bytes than were sent") }
    return .published(file.receipt(post))
  }

  private static func pending(_ prepared: MediaWikiPrepared, _ key: String) -> JSONValue {
    var pending = prepared
    pending.place = .stashed(key: key)
    return pending.value
  }

  private static func lost(_ reason: String) -> ResultError {
    ResultError(.network, "publishing: \(reason)", effect: .none, retry: .later)
  }

  /// The wiki has answered with an error: whether it has published is not always plain from it.
  private func afterFault(
    _ fault: MediaWikiFault,
    _ post: Post,
    _ prepared: MediaWikiPrepared,
    _ key: String
  ) async throws -> PublishAnswer {
    if fault.isCertain { return .refused(fault.error("publishing")) }
    // It is at it, for an earlier request.
    if fault.code == "publishfailed" {
      return .pending(Self.pending(prepared, key), retryAfter: nil)
    }
    if fault.code.hasPrefix("http") { return .unknown("\(fault.info)") }
    if let file = try await own(post, prepared.sha1) { return .published(file.receipt(post)) }
    // A key is used up by the request that publishes.
    if fault.kind == .lost { return .refused(Self.lost(fault.info)) }
    return .unknown("\(fault.info) (\(fault.code))")
  }

  /// The wiki has these bytes under some name.
  private func looking(
    _ post: Post,
    _ prepared: MediaWikiPrepared,
    otherwise error: ResultError
  ) async throws -> PublishAnswer {
    do {
      let twins = try await MediaWikiFiles(session: session).twins(prepared.sha1)
      if let file = try settings.twin(twins, post) { return .published(file.receipt(post)) }
      // The warning knows more than the list does yet.
      if let file = try await own(post, prepared.sha1) { return .published(file.receipt(post)) }
    } catch let refusal as ResultError {
      return .refused(refusal)
    } catch let fault as MediaWikiFault {
      return .unknown("looking for the file: \(fault.info)")
    }
    return .refused(error)
  }
}
