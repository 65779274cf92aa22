import CMicroHTTPD
import Synchronization

/// One request as it comes in and is answered.
///
/// SAFETY: MHD calls for a connection only on its one thread, and not while the connection is suspended;
/// then only the task that makes the answer touches this object. MHD's own locks order the two.
final class Exchange: @unchecked Sendable {
  private enum Phase {
    case head
    case collecting(limit: Int, @Sendable (HTTPRequest) async -> HTTPAnswer)
    case form(HTTPForm, FormReader)
    case failed(HTTPAnswer)
    case suspended
    case answered(HTTPAnswer)
    case ended
  }

  /// What is read and dropped of a body without a declared length that is too long, so that its sender
  /// comes to read the answer.
  private static let patience = 1 << 20

  private let server: ServerCore
  private let connection: OpaquePointer
  private let target: [UInt8]
  private var head: HTTPRequestHead?
  private var phase = Phase.head
  private var body: [UInt8] = []
  private var dropped = 0

  init(_ server: ServerCore, _ connection: OpaquePointer, target: [UInt8]) {
    self.server = server
    self.connection = connection
    self.target = target
    server.live.add(1, ordering: .relaxed)
  }

  deinit {
    server.live.subtract(1, ordering: .relaxed)
  }

  var hasHead: Bool { head != nil }

  /// The head is there.
  func begin(method: String) -> MHD_Result {
    let head = HTTPRequestHead(method: method, target: target, headers: headers())
    self.head = head
    server.connections.expectBody(connection, length: head.contentLength ?? 0)
    guard !server.isStopping else { return .NO }
    switch server.route(head) {
    case .answer(let answer): return send(answer)
    case .collect(let limit, let work):
      if let length = head.contentLength, length > Int64(limit) { return send(tooLarge) }
      phase = .collecting(limit: limit, work)
    case .form(let form):
      guard let reader = FormReader(connection, form) else { return send(Self.noForm) }
      phase = .form(form, reader)
    }
    return .YES
  }

  /// The request is over; the connection may bring another.
  func completed() {
    server.connections.expectHead(connection)
  }

  /// A piece of the body is there.
  func take(_ bytes: UnsafeRawBufferPointer) -> MHD_Result {
    switch phase {
    case .collecting(let limit, _):
      if body.count + bytes.count > limit {
        body = []
        phase = .failed(tooLarge)
      } else {
        body += bytes
      }
    case .form(_, let reader):
      if !reader.take(bytes) { phase = .failed(Self.noForm) }
    case .failed:
      dropped += bytes.count
      if dropped > Self.patience { return .NO }
    case .head, .suspended, .answered, .ended: return .NO
    }
    return .YES
  }

  /// The whole request is there, or its answer is.
  func proceed() -> MHD_Result {
    switch phase {
    case .collecting(_, let work):
      guard let head else { return .NO }
      let request = HTTPRequest(head: head, body: body)
      body = []
      phase = .suspended
      server.connections.expect(connection, within: nil)
      // Before the work begins: it may end at once.
      MHD_suspend_connection(connection)
      guard server.begin(self, { await work(request) }) else {
        resume(.hangUp)
        return .YES
      }
      return .YES
    case .form(let form, let reader):
      reader.finish()
      server.connections.expect(connection, within: nil)
      return send(form.answer())
    case .failed(let answer), .answered(let answer): return send(answer)
    // MHD asks again after a resumption that was not ours, which there is none of.
    case .suspended: return .YES
    case .head, .ended: return .NO
    }
  }

  /// Gives the answer of a suspended request; MHD comes for it on its own thread.
  func resume(_ answer: HTTPAnswer) {
    phase = .answered(answer)
    MHD_resume_connection(connection)
  }

  private func send(_ answer: HTTPAnswer) -> MHD_Result {
    phase = .ended
    guard case .response(let response) = answer, let queued = QueuedResponse(response) else {
      return .NO
    }
    // A file may take its time as long as something of it moves; a short answer is taken or not.
    if case .file = response.body {
      server.connections.expect(connection, within: nil)
    } else {
      server.connections.expectBody(connection)
    }
    return queued.queue(on: connection, status: response.status)
  }

  private func headers() -> HTTPFields {
    let collected = FieldCollector()
    // Borrowed for this call alone.
    MHD_get_connection_values(
      connection,
      .HEADER_KIND,
      FieldCollector.take,
      Unmanaged.passUnretained(collected).toOpaque()
    )
    return collected.fields
  }

  /// What is left of the body is not read, so the connection is of no more use.
  private var tooLarge: HTTPAnswer {
    var response = server.tooLarge()
    response.headers.append("Connection", "close")
    return .response(response)
  }

  private static let noForm = HTTPAnswer.response(HTTPResponse(400))
}

/// Takes the header fields out of MHD.
private final class FieldCollector {
  var fields = HTTPFields()

  static let take: MHD_KeyValueIterator = { context, _, name, value in
    guard let context, let name else { return .YES }
    let collector = Unmanaged<FieldCollector>.fromOpaque(context).takeUnretainedValue()
    collector.fields.append(
      String(cString: name),
      value.map { String(cString: $0) } ?? ""
    )
    return .YES
  }
}
