import Digests
import HTTPServer
import HandoffProtocol

/// From requests to questions, and from replies to answers.
enum StandInExchange {
  private static let largestBody = 65_536

  static func route(_ head: HTTPRequestHead, _ account: StandInAccount) -> HTTPRoute {
    guard var question = question(head) else { return refusal(.error(404, "Record not found")) }
    let bearer = head.headers["Authorization"].flatMap { $0.hasPrefix("Bearer ") ? $0 : nil }
    if let reply = account.refusal(question.step, bearing: bearer.map { String($0.dropFirst(7)) }) {
      return refusal(reply)
    }
    question.key = head.headers["Idempotency-Key"]
    question.olderThan = head.query["max_id"]
    question.limit = head.query["limit"].flatMap { Int($0) } ?? 20
    if question.step == .upload { return upload(question, account) }
    return .collect(limit: largestBody) { [question] request in
      var question = question
      do {
        if question.step == .publish {
          question.body = try WireCoder.decode(JSONValue.self, from: request.body)
        }
      } catch {
        return answer(.error(400, "\(error)"))
      }
      return answer(account.answer(question))
    }
  }

  private static func upload(
    _ question: StandInAccount.Question,
    _ account: StandInAccount
  ) -> HTTPRoute {
    let file: UploadedFile
    do {
      file = try UploadedFile()
    } catch {
      return refusal(.error(500, "\(error)"))
    }
    let form = HTTPForm(take: file.take) {
      do {
        var question = question
        question.upload = try file.finish(id: account.nextID())
        return answer(account.answer(question))
      } catch {
        return answer(.error(400, "\(error)"))
      }
    }
    return .form(form)
  }

  private static func question(_ head: HTTPRequestHead) -> StandInAccount.Question? {
    let parts = (head.segments ?? []).map { String(decoding: $0, as: UTF8.self) }
    switch (head.method, parts) {
    case ("POST", ["api", "v2", "media"]): return .init(step: .upload)
    case ("POST", ["api", "v1", "statuses"]): return .init(step: .publish)
    case ("GET", ["api", "v1", "accounts", "verify_credentials"]): return .init(step: .account)
    case ("GET", ["api", "v1", "apps", "verify_credentials"]): return .init(step: .application)
    case ("GET", ["api", "v1", "scheduled_statuses"]): return .init(step: .scheduledList)
    case ("GET", ["api", "v1", "instance"]), ("GET", ["api", "v2", "instance"]):
      return .init(step: .instance, subject: parts[1])
    case ("GET", _)
    where parts.count == 4 && parts.starts(with: ["api", "v1", "scheduled_statuses"]):
      return .init(step: .scheduled, subject: parts[3])
    case ("GET", _) where parts.count == 4 && parts.starts(with: ["api", "v1", "media"]):
      return .init(step: .media, subject: parts[3])
    case ("GET", _)
    where parts.count == 5 && parts.starts(with: ["api", "v1", "accounts"])
      && parts[4] == "statuses":
      return .init(step: .list, subject: parts[3])
    default: return nil
    }
  }

  private static func refusal(_ reply: StandInAccount.Reply) -> HTTPRoute {
    .answer(answer(reply))
  }

  private static func answer(_ reply: StandInAccount.Reply) -> HTTPAnswer {
    guard let status = reply.status else { return .hangUp }
    let text: [UInt8]
    do {
      text = reply.isGarbled ? Array("<html>oops".utf8) : try WireCoder.encode(reply.body)
    } catch {
      return .hangUp
    }
    var headers: HTTPFields = ["Content-Type": "application/json; charset=utf-8"]
    for (name, value) in reply.headers { headers.append(name, value) }
    return .response(HTTPResponse(status, headers, body: .bytes(text)))
  }
}

/// The file of an upload, of which only size and digest are kept.
///
/// SAFETY: a form is taken on the server's one thread, from its first piece to its answer.
private final class UploadedFile: @unchecked Sendable {
  private var digest: SHA256?
  private var size: Int64 = 0
  private var fileName = ""
  private var contentType = ""
  private var description: [UInt8] = []

  init() throws {
    digest = try SHA256()
  }

  @Sendable
  func take(_ piece: HTTPForm.Piece) {
    if piece.name == "description" { description += piece.bytes }
    guard piece.name == "file" else { return }
    fileName = piece.fileName ?? ""
    contentType = piece.contentType ?? ""
    digest?.update(piece.bytes)
    size += Int64(piece.bytes.count)
  }

  func finish(id: String) throws -> ReceivedUpload? {
    guard let whole = digest.take() else { return nil }
    return ReceivedUpload(
      id: id,
      sha256: try whole.finish().hexDigits,
      size: size,
      fileName: fileName,
      contentType: contentType,
      description: description.isEmpty ? nil : String(decoding: description, as: UTF8.self)
    )
  }
}
