import CCurl
import Paths

/// The options of one transfer, and what they borrow until it has ended.
final class CurlHandle {
  private let curl: UnsafeMutableRawPointer
  private var list: UnsafeMutablePointer<curl_slist>?
  private var form: OpaquePointer?

  init(_ curl: UnsafeMutableRawPointer) {
    self.curl = curl
  }

  /// Gives back what the options borrow; the transfer must have ended.
  func release() {
    curl_slist_free_all(list)
    if let form { curl_mime_free(form) }
    list = nil
    form = nil
  }

  /// Throws for an option that libcurl does not take: nothing was sent then.
  func check(_ code: CURLcode) throws(HTTPFailure) {
    guard code == CURLE_OK else { throw HTTPFailure(code, wasSent: false) }
  }

  func prepare(_ request: HTTPRequest, agent: String) throws(HTTPFailure) {
    try check(handoff_curl_set_text(curl, CURLOPT_URL, try plain(request.url)))
    try check(handoff_curl_set_text(curl, CURLOPT_PROTOCOLS_STR, "http,https"))
    try check(handoff_curl_set_text(curl, CURLOPT_USERAGENT, try plain(agent)))
    // An empty text is no proxy, also where the environment names one.
    try check(handoff_curl_set_text(curl, CURLOPT_PROXY, ""))
    try set(CURLOPT_FOLLOWLOCATION, 0)
    // No repetition of a request by libcurl itself, as over HTTP/2 it may be.
    try set(CURLOPT_HTTP_VERSION, CURL_HTTP_VERSION_1_1)
    // No signals: this is one thread of several.
    try set(CURLOPT_NOSIGNAL, 1)
    try prepareLimits(request.limits)
    try prepareBody(request)
    for header in request.headers + bodyHeaders(request) { try append(header) }
    try check(handoff_curl_set_list(curl, CURLOPT_HTTPHEADER, list))
  }

  /// Has a transfer filled in by libcurl's callbacks, which come only while it is performed.
  func attach(_ transfer: Transfer) throws(HTTPFailure) {
    // Borrowed: whoever performs it holds the transfer.
    let context = Unmanaged.passUnretained(transfer).toOpaque()
    try check(handoff_curl_set_writer(curl, Transfer.takeBody, Transfer.takeHeader, context))
    try check(handoff_curl_set_progress(curl, Transfer.tellProgress, context))
  }

  private func set(_ option: CURLoption, _ value: Int) throws(HTTPFailure) {
    try check(handoff_curl_set_long(curl, option, value))
  }

  private func prepareLimits(_ limits: HTTPLimits) throws(HTTPFailure) {
    try set(CURLOPT_CONNECTTIMEOUT_MS, Self.milliseconds(limits.connecting))
    try set(CURLOPT_TIMEOUT_MS, limits.total.map(Self.milliseconds) ?? 0)
    try set(CURLOPT_LOW_SPEED_LIMIT, 16)
    try set(CURLOPT_LOW_SPEED_TIME, max(1, Self.milliseconds(limits.stall) / 1000))
  }

  private func prepareBody(_ request: HTTPRequest) throws(HTTPFailure) {
    switch request.body {
    case .none:
      // Else libcurl waits for a body that never comes.
      if request.method == "HEAD" { try set(CURLOPT_NOBODY, 1) }
      try check(handoff_curl_set_text(curl, CURLOPT_CUSTOMREQUEST, try plain(request.method)))
    case .bytes(let bytes, _):
      try check(handoff_curl_set_body(curl, bytes, bytes.count))
      try check(handoff_curl_set_text(curl, CURLOPT_CUSTOMREQUEST, try plain(request.method)))
    case .file(let path, let name, let contentType):
      guard let form = curl_mime_init(curl), let part = curl_mime_addpart(form) else {
        throw HTTPFailure(.other, wasSent: false, "out of memory")
      }
      self.form = form
      try check(curl_mime_name(part, "file"))
      // By its bytes, whatever they are; libcurl reads the file as it sends.
      try check(curl_mime_filedata(part, path.nulTerminated))
      // The export's own name is nobody's business there, and may not fit a header.
      try check(curl_mime_filename(part, name))
      try check(curl_mime_type(part, contentType))
      try check(handoff_curl_set_mime(curl, form))
      try check(handoff_curl_set_text(curl, CURLOPT_CUSTOMREQUEST, try plain(request.method)))
    }
  }

  private func bodyHeaders(_ request: HTTPRequest) -> [(name: String, value: String)] {
    guard case .bytes(_, let contentType) = request.body else { return [] }
    return [("Content-Type", contentType)]
  }

  private func append(_ header: (name: String, value: String)) throws(HTTPFailure) {
    let name = try plain(header.name)
    let value = try plain(header.value)
    // After a colon alone libcurl would leave the header out.
    guard let longer = curl_slist_append(list, value.isEmpty ? "\(name);" : "\(name): \(value)")
    else { throw HTTPFailure(.other, wasSent: false, "out of memory") }
    list = longer
  }

  /// A text that ends neither a header nor a C string.
  private func plain(_ text: String) throws(HTTPFailure) -> String {
    guard text.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F }) else {
      throw HTTPFailure(.request, wasSent: false, "a control character in a request")
    }
    return text
  }

  private static func milliseconds(_ duration: Duration) -> Int {
    // At least one: zero is no limit.
    Int(clamping: max(1, Int64(duration / .milliseconds(1))))
  }
}
