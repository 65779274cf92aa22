import CCurl
import LinuxSystem

/// Makes requests with libcurl, each on a thread of its own.
///
/// The one address that is contacted is the request's: redirections are not followed, and no proxy of the
/// environment is asked.
package struct HTTPClient: Sendable {
  /// libcurl's one initialisation; a static property is made once, whichever thread is first.
  private static let initialization = handoff_curl_initialize()

  private let agent: String

  /// - Parameter agent: what `User-Agent` says.
  package init(agent: String) {
    self.agent = agent
  }

  /// Makes a request and waits for the whole answer.
  ///
  /// - Parameters:
  ///   - request: what is asked.
  ///   - progress: told the sent part of the body, 0 to 1.
  /// - Returns: the answer, whatever its status.
  /// - Throws: ``HTTPFailure``; `CancellationError`, at once, whatever the exchange waits for.
  package func exchange(
    _ request: HTTPRequest,
    progress: @Sendable (Double) async -> Void = { _ in }
  ) async throws -> HTTPReply {
    let transfer = Transfer(limit: request.limits.body)
    let thread = BlockingThread("http")
    let agent = agent
    return try await withTaskCancellationHandler {
      async let reply = thread.run { try Self.perform(request, agent, transfer) }
      for await part in transfer.progress { await progress(part) }
      return try await reply
    } onCancel: {
      transfer.cancel()
    }
  }

  /// Blocks.
  private static func perform(
    _ request: HTTPRequest,
    _ agent: String,
    _ transfer: Transfer
  ) throws -> HTTPReply {
    defer { transfer.finish() }
    try FaultPlan.current.pass("http.send")
    guard initialization == CURLE_OK, let curl = curl_easy_init() else {
      throw HTTPFailure(.other, wasSent: false, "libcurl does not start")
    }
    defer { curl_easy_cleanup(curl) }
    let handle = CurlHandle(curl)
    defer { handle.release() }
    try handle.prepare(request, agent: agent)
    try handle.attach(transfer)
    let code = try run(curl, transfer)
    if transfer.isCancelled { throw CancellationError() }
    guard code == CURLE_OK || transfer.isCut else {
      throw HTTPFailure(code, wasSent: handoff_curl_sent_after(curl) > 0)
    }
    var status = 0
    try handle.check(handoff_curl_get_long(curl, CURLINFO_RESPONSE_CODE, &status))
    try FaultPlan.current.pass("http.answer")
    return transfer.reply(status)
  }

  /// Runs one transfer to its end; unlike curl_easy_perform it can be woken, so that cancelling does not
  /// wait for the next second.
  private static func run(
    _ curl: UnsafeMutableRawPointer,
    _ transfer: Transfer
  ) throws(HTTPFailure) -> CURLcode {
    guard let multi = curl_multi_init() else {
      throw HTTPFailure(.other, wasSent: false, "out of memory")
    }
    defer { curl_multi_cleanup(multi) }
    guard curl_multi_add_handle(multi, curl) == CURLM_OK else {
      throw HTTPFailure(.other, wasSent: false, "libcurl does not take the request")
    }
    defer { curl_multi_remove_handle(multi, curl) }
    transfer.begin(waking: multi)
    defer { transfer.end() }
    var running: CInt = 1
    while !transfer.isCancelled {
      guard curl_multi_perform(multi, &running) == CURLM_OK else { return CURLE_FAILED_INIT }
      if running == 0 { break }
      // It wakes by itself for libcurl's own limits.
      curl_multi_poll(multi, nil, 0, 1000, nil)
    }
    var left: CInt = 0
    while let message = curl_multi_info_read(multi, &left) {
      if message.pointee.msg == CURLMSG_DONE { return message.pointee.data.result }
    }
    return CURLE_ABORTED_BY_CALLBACK
  }
}
