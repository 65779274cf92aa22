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
    guard code == CURLE_OK else {
      throw HTTPFailure(wasSent: false, reason: String(cString: curl_easy_strerror(code)))
    }
  }

  func prepare(_ request: HTTPRequest) throws(HTTPFailure) {
    try check(handoff_curl_set_text(curl, CURLOPT_URL, request.url))
    try check(handoff_curl_set_text(curl, CURLOPT_PROTOCOLS_STR, "http,https"))
    try check(handoff_curl_set_text(curl, CURLOPT_USERAGENT, "handoff-social/1.0"))
    // No signals: this is one thread of several.
    try check(handoff_curl_set_long(curl, CURLOPT_NOSIGNAL, 1))
    try check(handoff_curl_set_long(curl, CURLOPT_CONNECTTIMEOUT, 20))
    try check(handoff_curl_set_long(curl, CURLOPT_TIMEOUT, request.limit))
    // Fewer than 16 bytes a second for a minute are nothing.
    try check(handoff_curl_set_long(curl, CURLOPT_LOW_SPEED_LIMIT, 16))
    try check(handoff_curl_set_long(curl, CURLOPT_LOW_SPEED_TIME, 60))
    try prepareBody(request)
    for header in request.headers + bodyHeaders(request) {
      guard let longer = curl_slist_append(list, header) else {
        throw HTTPFailure(wasSent: false, reason: "out of memory")
      }
      list = longer
    }
    try check(handoff_curl_set_list(curl, CURLOPT_HTTPHEADER, list))
  }

  private func prepareBody(_ request: HTTPRequest) throws(HTTPFailure) {
    switch request.body {
    case .none:
      try check(handoff_curl_set_text(curl, CURLOPT_CUSTOMREQUEST, request.method))
    case .json(let bytes):
      try check(handoff_curl_set_body(curl, bytes, bytes.count))
    case .file(let path, let name, let contentType):
      guard let form = curl_mime_init(curl), let part = curl_mime_addpart(form) else {
        throw HTTPFailure(wasSent: false, reason: "out of memory")
      }
      self.form = form
      try check(curl_mime_name(part, "file"))
      // By its bytes, whatever they are; libcurl reads the file as it sends.
      try check(curl_mime_filedata(part, path.nulTerminated))
      // The export's own name is nobody's business there, and may not fit a header.
      try check(curl_mime_filename(part, name))
      try check(curl_mime_type(part, contentType))
      try check(handoff_curl_set_mime(curl, form))
    }
  }

  private func bodyHeaders(_ request: HTTPRequest) -> [String] {
    guard case .json = request.body else { return [] }
    return ["Content-Type: application/json"]
  }
}
