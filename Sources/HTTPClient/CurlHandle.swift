import CCurl
import Paths

/// The options of one transfer, and what they borrow until it has ended.
final class CurlHandle {
  private let curl: UnsafeMutableRawPointer
  private var list: UnsafeMutablePointer<curl_slist>?
  private var form: OpaquePointer?
  private var readers: [SliceReader] = []

  init(_ curl: UnsafeMutableRawPointer) {
    self.curl = curl
  }

  /// Gives back what the options borrow; the transfer must have ended.
  func release() {
    curl_slist_free_all(list)
    if let form { curl_mime_free(form) }
    list = nil
    form = nil
    readers = []
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
    if request.onlyConnects { try set(CURLOPT_CONNECT_ONLY, 1) }
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
    case .upload(let slice, _):
      let context = try reader(of: slice)
      try check(handoff_curl_set_reader(curl, SliceReader.read, SliceReader.seek, context))
      try check(handoff_curl_set_size(curl, CURLOPT_INFILESIZE_LARGE, Int(slice.count)))
      try set(CURLOPT_UPLOAD, 1)
      try check(handoff_curl_set_text(curl, CURLOPT_CUSTOMREQUEST, try plain(request.method)))
    case .form(let parts):
      try prepareForm(parts)
      try check(handoff_curl_set_text(curl, CURLOPT_CUSTOMREQUEST, try plain(request.method)))
    }
    // A server that does not know "Expect: 100-continue" says nothing.
    try set(CURLOPT_EXPECT_100_TIMEOUT_MS, 300)
  }

  private func prepareForm(_ parts: [HTTPFormPart]) throws(HTTPFailure) {
    guard let form = curl_mime_init(curl) else {
      throw HTTPFailure(.other, wasSent: false, "out of memory")
    }
    self.form = form
    for part in parts {
      guard let place = curl_mime_addpart(form) else {
        throw HTTPFailure(.other, wasSent: false, "out of memory")
      }
      try check(curl_mime_name(place, try plain(part.name)))
      switch part.content {
      case .text(let text):
        let bytes = Array(text.utf8)
        try check(handoff_curl_set_part(place, bytes, bytes.count))
      case .file(let slice, let name, let contentType):
        let context = try reader(of: slice)
        let (read, seek) = (SliceReader.read, SliceReader.seek)
        try check(curl_mime_data_cb(place, Int(slice.count), read, seek, nil, context))
        // The export's own name is nobody's business there, and may not fit a header.
        try check(curl_mime_filename(place, try plain(name)))
        try check(curl_mime_type(place, try plain(contentType)))
      }
    }
    try check(handoff_curl_set_mime(curl, form))
  }

  /// Opens a slice, and keeps it open until the transfer has ended.
  private func reader(of slice: HTTPFileSlice) throws(HTTPFailure) -> UnsafeMutableRawPointer {
    let reader = try SliceReader(slice)
    readers.append(reader)
    return Unmanaged.passUnretained(reader).toOpaque()
  }

  private func bodyHeaders(_ request: HTTPRequest) -> [(name: String, value: String)] {
    switch request.body {
    case .bytes(_, let contentType), .upload(_, let contentType):
      [("Content-Type", contentType)]
    case .none, .form: []
    }
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
