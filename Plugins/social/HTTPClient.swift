import CCurl
import LinuxSystem
import Paths
import Synchronization

/// Makes requests with libcurl, each on a thread of its own.
struct HTTPClient: Sendable {
  /// libcurl's one initialisation; a static property is made once, whichever thread is first.
  private static let initialization = handoff_curl_initialize()

  /// Makes a request and waits for the whole answer; redirections are not followed, so that a token
  /// goes to the configured server only.
  ///
  /// - Parameters:
  ///   - request: what is asked.
  ///   - progress: told the sent part of the body, 0 to 1.
  /// - Returns: the answer, whatever its status.
  /// - Throws: ``HTTPFailure``; `CancellationError`.
  func exchange(
    _ request: HTTPRequest,
    progress: @Sendable (Double) async -> Void = { _ in }
  ) async throws -> HTTPReply {
    let transfer = Transfer()
    let thread = BlockingThread("social.http")
    return try await withTaskCancellationHandler {
      async let reply = thread.run { try Self.perform(request, transfer) }
      for await part in transfer.progress { await progress(part) }
      return try await reply
    } onCancel: {
      transfer.cancel()
    }
  }

  private static func perform(
    _ request: HTTPRequest,
    _ transfer: Transfer
  ) throws -> HTTPReply {
    defer { transfer.finish() }
    guard initialization == CURLE_OK, let curl = curl_easy_init() else {
      throw HTTPFailure(wasSent: false, reason: "libcurl does not start")
    }
    defer { curl_easy_cleanup(curl) }
    let handle = CurlHandle(curl)
    defer { handle.release() }
    try handle.prepare(request)
    // Borrowed for the call: callbacks come only from within it.
    let context = Unmanaged.passUnretained(transfer).toOpaque()
    try handle.check(handoff_curl_set_writer(curl, Transfer.takeBody, Transfer.takeHeader, context))
    try handle.check(handoff_curl_set_progress(curl, Transfer.tellProgress, context))
    let code = curl_easy_perform(curl)
    if transfer.isCancelled { throw CancellationError() }
    guard code == CURLE_OK else {
      throw HTTPFailure(
        wasSent: handoff_curl_sent_after(curl) > 0,
        reason: String(cString: curl_easy_strerror(code))
      )
    }
    var status = 0
    try handle.check(handoff_curl_get_long(curl, CURLINFO_RESPONSE_CODE, &status))
    return transfer.reply(status)
  }
}

/// What the callbacks of one transfer fill in, on the thread that performs it.
final class Transfer: Sendable {
  private struct State {
    var headers: [String: String] = [:]
    var body: [UInt8] = []
  }

  private static let largestBody = 1 << 20
  private let state = Mutex(State())
  private let cancelled = Atomic(false)
  /// The part of the body that was sent; only the latest is of interest.
  let progress: AsyncStream<Double>
  private let continuation: AsyncStream<Double>.Continuation

  init() {
    (progress, continuation) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
  }

  var isCancelled: Bool { cancelled.load(ordering: .relaxed) }

  func cancel() {
    cancelled.store(true, ordering: .relaxed)
  }

  func finish() {
    continuation.finish()
  }

  func reply(_ status: Int) -> HTTPReply {
    state.withLock { HTTPReply(status: status, headers: $0.headers, body: $0.body) }
  }

  /// CURLOPT_WRITEFUNCTION; another count than was given ends the transfer.
  static let takeBody: handoff_curl_write = { bytes, size, count, context in
    guard let bytes, let context else { return 0 }
    let transfer = Unmanaged<Transfer>.fromOpaque(context).takeUnretainedValue()
    return transfer.state.withLock { state in
      guard state.body.count + size * count <= largestBody else { return 0 }
      state.body += UnsafeRawBufferPointer(start: bytes, count: size * count)
      return size * count
    }
  }

  /// CURLOPT_HEADERFUNCTION: one line a call, also those of "100 Continue".
  static let takeHeader: handoff_curl_write = { bytes, size, count, context in
    guard let bytes, let context else { return 0 }
    let transfer = Unmanaged<Transfer>.fromOpaque(context).takeUnretainedValue()
    let line = String(
      decoding: UnsafeRawBufferPointer(start: bytes, count: size * count),
      as: UTF8.self
    )
    if let colon = line.firstIndex(of: ":") {
      let value = line[line.index(after: colon)...].drop { $0 == " " }
      let text = String(value.prefix { !$0.isNewline })
      transfer.state.withLock { $0.headers[line[..<colon].lowercased()] = text }
    }
    return size * count
  }

  /// CURLOPT_XFERINFOFUNCTION; anything but 0 ends the transfer.
  static let tellProgress: curl_xferinfo_callback = { context, _, _, total, sent in
    guard let context else { return 1 }
    let transfer = Unmanaged<Transfer>.fromOpaque(context).takeUnretainedValue()
    if total > 0 { transfer.continuation.yield(Double(sent) / Double(total)) }
    return transfer.isCancelled ? 1 : 0
  }
}
