import CCurl
import Synchronization

/// What the callbacks of one transfer fill in, on the thread that performs it.
final class Transfer: Sendable {
  private struct State {
    var headers: [String: String] = [:]
    var cookies: [String] = []
    var headerSize = 0
    var body: [UInt8] = []
    var isCut = false
    /// libcurl's handle while it runs, for the one call that other threads may make.
    ///
    /// SAFETY: it is set after it was made and taken away, under this lock, before it is freed.
    nonisolated(unsafe) var multi: UnsafeMutableRawPointer?
  }

  private static let largestHeaders = 65_536

  private let limit: Int
  private let state = Mutex(State())
  private let cancelled = Atomic(false)
  /// The part of the body that was sent; only the latest is of interest.
  let progress: AsyncStream<Double>
  private let continuation: AsyncStream<Double>.Continuation

  /// - Parameter limit: of the body, in bytes.
  init(limit: Int) {
    self.limit = limit
    (progress, continuation) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
  }

  var isCancelled: Bool { cancelled.load(ordering: .relaxed) }
  var isCut: Bool { state.withLock { $0.isCut } }

  func cancel() {
    cancelled.store(true, ordering: .relaxed)
    state.withLock { state in
      if let multi = state.multi { curl_multi_wakeup(multi) }
    }
  }

  /// The transfer runs under a handle that ``cancel()`` wakes.
  func begin(waking multi: UnsafeMutableRawPointer) {
    let address = UInt(bitPattern: multi)
    state.withLock { $0.multi = UnsafeMutableRawPointer(bitPattern: address) }
  }

  /// The handle is about to be freed.
  func end() {
    state.withLock { $0.multi = nil }
  }

  /// There is no more progress to be told.
  func finish() {
    continuation.finish()
  }

  func reply(_ status: Int) -> HTTPReply {
    state.withLock { state in
      HTTPReply(
        status: status,
        headers: state.headers,
        cookies: state.cookies,
        body: state.body,
        isCut: state.isCut
      )
    }
  }

  // MARK: libcurl's callbacks, formed outside of every actor

  /// CURLOPT_WRITEFUNCTION; another count than was given ends the transfer.
  static let takeBody: handoff_curl_write = { bytes, size, count, context in
    guard let bytes, let context else { return 0 }
    let transfer = Unmanaged<Transfer>.fromOpaque(context).takeUnretainedValue()
    let piece = UnsafeRawBufferPointer(start: bytes, count: size * count)
    return transfer.takeBody(piece) ? size * count : 0
  }

  /// CURLOPT_HEADERFUNCTION: one line a call.
  static let takeHeader: handoff_curl_write = { bytes, size, count, context in
    guard let bytes, let context else { return 0 }
    let transfer = Unmanaged<Transfer>.fromOpaque(context).takeUnretainedValue()
    let line = String(
      decoding: UnsafeRawBufferPointer(start: bytes, count: size * count),
      as: UTF8.self
    )
    return transfer.takeHeader(line) ? size * count : 0
  }

  /// CURLOPT_XFERINFOFUNCTION; anything but 0 ends the transfer.
  static let tellProgress: curl_xferinfo_callback = { context, _, _, total, sent in
    guard let context else { return 1 }
    let transfer = Unmanaged<Transfer>.fromOpaque(context).takeUnretainedValue()
    if total > 0 { transfer.continuation.yield(Double(sent) / Double(total)) }
    return transfer.isCancelled ? 1 : 0
  }

  private func takeBody(_ piece: UnsafeRawBufferPointer) -> Bool {
    let room = limit - state.withLock { $0.body.count }
    let taken = Array(piece.prefix(room))
    return state.withLock { state in
      state.body += taken
      if taken.count < piece.count { state.isCut = true }
      return !state.isCut
    }
  }

  private func takeHeader(_ line: String) -> Bool {
    state.withLock { state in
      state.headerSize += line.utf8.count
      guard state.headerSize <= Self.largestHeaders else { return false }
      // The headers of "100 Continue" are not those of the answer.
      if line.hasPrefix("HTTP/") {
        state.headers = [:]
        state.cookies = []
      }
      guard let colon = line.firstIndex(of: ":") else { return true }
      let name = line[..<colon].lowercased()
      let rest = line[line.index(after: colon)...].drop { $0 == " " || $0 == "\t" }
      let value = String(rest.prefix { !$0.isNewline })
      if name == "set-cookie" { state.cookies.append(value) }
      state.headers[name] = state.headers[name].map { "\($0), \(value)" } ?? value
      return true
    }
  }
}
