import HandoffPluginKit
import HandoffProtocol

extension MediaWikiPlatform {
  func observe(_ post: Post, _ pending: JSONValue) async throws -> PublishAnswer {
    guard let pending = MediaWikiPrepared(pending), case .stashed(let key) = pending.place else {
      return .unknown("nothing that can be read was recorded")
    }
    do {
      let standing = try await MediaWikiStatus(session: session).of(key)
      if case .working = standing { return .pending(pending.value, retryAfter: nil) }
      // MediaWiki 1.39 says that it has failed when it has published (its job looks for the stash's file after
      // that is gone): only the list of files tells.
      if let file = try await own(post, pending.sha1) { return .published(file.receipt(post)) }
      if case .failed(let fault) = standing { return .refused(fault.error("publishing")) }
      return .unknown("the wiki does not show what it has taken")
    } catch let fault as MediaWikiFault {
      throw fault.error("asking whether it is published")
    }
  }

  /// To publish again is safe where the stash still has the file, and else where the file is not on the wiki
  /// after some looks: the same name and the same bytes make no second file even if the first request is still
  /// worked on.
  func find(_ post: Post, _ prepared: JSONValue, since: Timestamp) async throws -> Finding {
    guard let prepared = MediaWikiPrepared(prepared) else {
      return .unknown("nothing that can be read was recorded")
    }
    do {
      let files = MediaWikiFiles(session: session)
      if case .published(let file) = prepared.place { return .published(file.receipt(post)) }
      let twins = try await files.twins(prepared.sha1)
      if let file = twins.first(where: { $0.isOf(post) }) { return .published(file.receipt(post)) }
      if let pending = try await atWork(prepared) { return .pending(pending) }
      if case .ready = try await standing(prepared) { return .absent }
      if let file = try await own(post, prepared.sha1) { return .published(file.receipt(post)) }
      return .absent
    } catch let fault as MediaWikiFault {
      throw fault.error("asking the wiki")
    }
  }

  /// What is needed to ask again, where the wiki is at publishing.
  private func atWork(_ prepared: MediaWikiPrepared) async throws -> JSONValue? {
    let status = MediaWikiStatus(session: session)
    var key: String
    switch prepared.place {
    case .stashed(let held): key = held
    case .assembling(let held):
      guard case .stashed(let joined) = try await status.of(held) else { return nil }
      key = joined
    case .chunks, .published: return nil
    }
    guard case .working = try await status.of(key) else { return nil }
    var pending = prepared
    pending.place = .stashed(key: key)
    return pending.value
  }

  /// The file that this handoff has published, looked for several times: a list may be behind what was just
  /// written.
  func own(_ post: Post, _ sha1: String) async throws -> MediaWikiFile? {
    let files = MediaWikiFiles(session: session)
    var pauses = settings.pauses.makeIterator()
    while true {
      if let file = try await files.twins(sha1).first(where: { $0.isOf(post) }) { return file }
      guard let pause = pauses.next() else { return nil }
      try await Task.sleep(for: pause)
    }
  }
}
