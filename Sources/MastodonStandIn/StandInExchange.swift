import CMicroHTTPD
import Digests
import HandoffProtocol

/// One request as it comes in, on the server's thread.
final class StandInExchange {
  private static let largestBody = 65_536

  private let account: StandInAccount
  private let connection: OpaquePointer
  private var question: StandInAccount.Question?
  private var failure: StandInAccount.Reply?
  private var body: [UInt8] = []
  private var parts: OpaquePointer?
  private var digest: SHA256?
  private var size: Int64 = 0
  private var fileName = ""
  private var contentType = ""

  private init(
    _ account: StandInAccount,
    _ connection: OpaquePointer,
    _ method: String,
    _ url: String
  ) {
    self.account = account
    self.connection = connection
    question = Self.question(method, url)
    if header("Authorization") != "Bearer \(account.token)" {
      failure = .error(401, "The access token is invalid")
    } else if question == nil {
      failure = .error(404, "Record not found")
    } else if question?.step == .upload {
      beginUpload()
    }
    question?.key = header("Idempotency-Key")
    question?.olderThan = value("max_id", .GET_ARGUMENT_KIND)
  }

  deinit {
    if let parts { MHD_destroy_post_processor(parts) }
  }

  /// MHD_AccessHandlerCallback: comes once for the header, once for each piece of the body, and once
  /// at the end.
  static let handle: MHD_AccessHandlerCallback = {
    context,
    connection,
    url,
    method,
    _,
    bytes,
    count,
    slot in
    guard let context, let connection, let url, let method, let count, let slot else {
      return .NO
    }
    guard let pointer = slot.pointee else {
      let account = Unmanaged<StandInAccount>.fromOpaque(context).takeUnretainedValue()
      let exchange = StandInExchange(
        account,
        connection,
        String(cString: method),
        String(cString: url)
      )
      // Released by `completed`.
      slot.pointee = Unmanaged.passRetained(exchange).toOpaque()
      return .YES
    }
    let exchange = Unmanaged<StandInExchange>.fromOpaque(pointer).takeUnretainedValue()
    if count.pointee > 0 {
      exchange.take(UnsafeRawBufferPointer(start: bytes, count: count.pointee))
      count.pointee = 0
      return .YES
    }
    return exchange.finish()
  }

  /// MHD_RequestCompletedCallback.
  static let completed: MHD_RequestCompletedCallback = { _, _, slot, _ in
    guard let pointer = slot?.pointee else { return }
    Unmanaged<StandInExchange>.fromOpaque(pointer).release()
    slot?.pointee = nil
  }

  /// MHD_PostDataIterator: a piece of one part of the form.
  private static let part: MHD_PostDataIterator = {
    context,
    _,
    key,
    fileName,
    contentType,
    _,
    bytes,
    _,
    count in
    guard let context, let key, String(cString: key) == "file" else { return .YES }
    let exchange = Unmanaged<StandInExchange>.fromOpaque(context).takeUnretainedValue()
    exchange.fileName = fileName.map { String(cString: $0) } ?? ""
    exchange.contentType = contentType.map { String(cString: $0) } ?? ""
    exchange.digest?.update(UnsafeRawBufferPointer(start: bytes, count: count))
    exchange.size += Int64(count)
    return .YES
  }

  private static func question(_ method: String, _ url: String) -> StandInAccount.Question? {
    let parts = url.split(separator: "/").map(String.init)
    switch (method, parts) {
    case ("POST", ["api", "v2", "media"]): return .init(step: .upload)
    case ("POST", ["api", "v1", "statuses"]): return .init(step: .publish)
    case ("GET", ["api", "v1", "accounts", "verify_credentials"]): return .init(step: .account)
    case ("GET", _) where parts.count == 4 && parts.starts(with: ["api", "v1", "media"]):
      return .init(step: .media, subject: parts[3])
    case ("GET", _)
    where parts.count == 5 && parts.starts(with: ["api", "v1", "accounts"])
      && parts[4] == "statuses":
      return .init(step: .list, subject: parts[3])
    default: return nil
    }
  }

  private func beginUpload() {
    do {
      digest = try SHA256()
    } catch {
      failure = .error(500, "\(error)")
    }
    // Borrowed: the processor is destroyed with this object.
    let context = Unmanaged.passUnretained(self).toOpaque()
    parts = MHD_create_post_processor(connection, 65_536, Self.part, context)
    if parts == nil { failure = .error(400, "not a form") }
  }

  private func take(_ bytes: UnsafeRawBufferPointer) {
    guard failure == nil else { return }
    if let parts {
      let isForm = MHD_post_process(
        parts,
        bytes.bindMemory(to: CChar.self).baseAddress,
        bytes.count
      )
      if isForm != .YES { failure = .error(400, "not a form") }
    } else if body.count + bytes.count > Self.largestBody {
      failure = .error(413, "too large")
    } else {
      body += bytes
    }
  }

  private func finish() -> MHD_Result {
    let reply = failure ?? reply()
    guard let status = reply.status else { return .NO }
    let text: [UInt8]
    do {
      text = reply.isGarbled ? Array("<html>oops".utf8) : try WireCoder.encode(reply.body)
    } catch {
      return .NO
    }
    let response = text.withUnsafeBytes { bytes in
      // MHD copies the bytes; it takes them as mutable only for its other modes.
      MHD_create_response_from_buffer(
        bytes.count,
        UnsafeMutableRawPointer(mutating: bytes.baseAddress),
        .RESPMEM_MUST_COPY
      )
    }
    guard let response else { return .NO }
    defer { MHD_destroy_response(response) }
    MHD_add_response_header(response, "Content-Type", "application/json; charset=utf-8")
    if let seconds = reply.retryAfter {
      MHD_add_response_header(response, "Retry-After", String(seconds))
    }
    return MHD_queue_response(connection, UInt32(status), response)
  }

  private func reply() -> StandInAccount.Reply {
    guard var question else { return .error(404, "Record not found") }
    do {
      if question.step == .upload { question.upload = try upload() }
      if question.step == .publish {
        question.body = try WireCoder.decode(JSONValue.self, from: body)
      }
    } catch {
      return .error(400, "\(error)")
    }
    return account.answer(question)
  }

  private func upload() throws -> ReceivedUpload? {
    guard let whole = digest.take() else { return nil }
    return ReceivedUpload(
      id: account.nextID(),
      sha256: try whole.finish().hexDigits,
      size: size,
      fileName: fileName,
      contentType: contentType
    )
  }

  private func header(_ name: String) -> String? {
    value(name, .HEADER_KIND)
  }

  private func value(_ name: String, _ kind: MHD_ValueKind) -> String? {
    MHD_lookup_connection_value(connection, kind, name).map { String(cString: $0) }
  }
}
