import HTTPClient
import HandoffPluginKit
import HandoffProtocol

/// Brings one asset to a Matrix server.
///
/// An id is asked for and recorded before a byte is sent, so that a process that dies can look whether its
/// upload has arrived, and sends it at most once more. Nothing refers to an upload before it is published.
struct MatrixUpload: Sendable {
  let client: MatrixClient
  let upload: Upload
  /// Between two looks whether it has arrived.
  let interval: Duration

  /// What the server has under an id.
  enum Standing: Sendable {
    case whole
    /// The id is there, and no bytes.
    case empty
    /// The server does not know it, or has other bytes there.
    case lost
  }

  /// An id that is forgotten sooner than this is not begun with.
  private static let shortest = Duration.seconds(3600)
  /// How often it is looked whether an upload that is held back arrives.
  private static let looks = 10

  func run() async throws -> MatrixMedia {
    if let media = MatrixMedia(upload.recorded), try await isThere(media) { return media }
    let media = try await create()
    try await upload.keep(media.recorded)
    if let refusal = try await send(media) { throw refusal.error("uploading") }
    return media
  }

  /// What an interrupted upload has left; its id is used again where that can be.
  private func isThere(_ media: MatrixMedia) async throws -> Bool {
    switch try await Self.standing(of: media, upload.asset.size, client) {
    case .whole: return true
    case .lost: return false
    case .empty:
      guard media.unusedUntil.since(SystemMoment.now()) > Self.shortest else { return false }
      return try await send(media) == nil
    }
  }

  /// POST /media/v1/create.
  private func create() async throws -> MatrixMedia {
    let reply = try await client.ask("POST", "media/v1/create")
    guard reply.isSuccess else {
      var error = reply.error("asking for a place for the upload")
      // Synapse allows five that have no bytes yet, and forgets one after a day.
      if error.code == .quota {
        error.remedy = "Finish other uploads of the account, or raise max_pending_media_uploads."
      }
      throw error
    }
    let until = reply.json?["unused_expires_at"]?.integer
    // Where it does not say, the specification recommends a day.
    let assumed = SystemMoment.now().advanced(by: .seconds(86_400))
    guard let uri = reply.json?["content_uri"]?.text,
      let media = MatrixMedia(
        uri: uri,
        unusedUntil: until.map { Timestamp(milliseconds: $0) } ?? assumed
      )
    else {
      throw ResultError(.network, "no content_uri in the answer", effect: .none, retry: .later)
    }
    return media
  }

  /// PUT /media/v3/upload/{server}/{id}: nil when the bytes are there, or a refusal of the id.
  private func send(_ media: MatrixMedia) async throws -> MatrixReply? {
    let reply: MatrixReply
    do {
      reply = try await client.ask(
        "PUT",
        "media/v3/upload/\(media.path)",
        body: .upload(
          HTTPFileSlice(upload.asset.path, count: upload.asset.size),
          contentType: upload.contentType.name
        ),
        // A long video on a slow line takes hours; no bytes for a minute end it.
        adjust: { $0.total = nil },
        progress: upload.progress
      )
    } catch let failure as HTTPFailure where failure.wasSent {
      throw try await explained(failure)
    }
    if reply.isSuccess { return nil }
    switch (reply.status, reply.errcode) {
    case (409, _):
      // Also the answer while an earlier upload is still worked on, and for two minutes after one of several
      // workers has died over it: it alone does not prove that the bytes are there.
      return try await arrives(media) ? nil : reply
    case (404, "M_NOT_FOUND"), (403, "M_FORBIDDEN"):
      // Forgotten, or asked for by another account.
      return reply
    default: throw reply.error("uploading")
    }
  }

  private func arrives(_ media: MatrixMedia) async throws -> Bool {
    for _ in 0..<Self.looks {
      switch try await Self.standing(of: media, upload.asset.size, client) {
      case .whole: return true
      case .lost: return false
      case .empty: try await Task.sleep(for: interval)
      }
    }
    return false
  }

  /// Synapse cuts the connection over too large a body, instead of an answer.
  private func explained(_ failure: HTTPFailure) async throws -> ResultError {
    let size = upload.asset.size
    let limit: Int64?
    do {
      limit = try await client.uploadLimit()
    } catch let other as HTTPFailure {
      throw ResultError(.network, "uploading: \(other)", effect: .none, retry: .later)
    }
    if let limit, size > limit { return Self.tooLarge(size, limit) }
    let told = limit.map { "; the server takes \($0) bytes, and these are \(size)" } ?? ""
    return ResultError(.network, "uploading: \(failure)\(told)", effect: .none, retry: .later)
  }

  private static func tooLarge(_ size: Int64, _ limit: Int64) -> ResultError {
    ResultError(
      .sizeOutOfRange,
      "the video has \(size) bytes, and the server takes \(limit)",
      effect: .none,
      remedy: "Hand off a smaller rendition (use), or raise the server's limit."
    )
  }

  /// Looks what is there, by the head of its download.
  static func standing(
    of media: MatrixMedia,
    _ size: Int64,
    _ client: MatrixClient
  ) async throws -> Standing {
    let reply = try await client.ask(
      "GET",
      "client/v1/media/download/\(media.path)",
      query: [("timeout_ms", "0")],
      // Its length is all that is wanted.
      adjust: { $0.body = 1024 }
    )
    switch (reply.status, reply.errcode) {
    case (200, _): return reply.length ?? size == size ? .whole : .lost
    // It is kept elsewhere, where it is not looked.
    case (307, _), (308, _): return .whole
    case (504, "M_NOT_YET_UPLOADED"): return .empty
    case (404, "M_NOT_FOUND"): return .lost
    default: throw reply.error("looking at the upload")
    }
  }
}
