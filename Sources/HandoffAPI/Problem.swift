import HTTPServer
package import HandoffProtocol

/// An answer that refuses: `application/problem+json` (RFC 9457) with the protocol's code.
///
/// It never repeats anything of the request.
package struct Problem: Error, Sendable {
  package let status: Int
  package let code: ErrorCode
  /// One sentence for a person.
  package let detail: String
  /// Seconds after which another try makes sense.
  package let retryAfter: Int?
  let headers: HTTPFields

  package init(
    _ status: Int,
    _ code: ErrorCode,
    _ detail: String,
    retryAfter: Int? = nil
  ) {
    self.init(status, code, detail, retryAfter: retryAfter, headers: [:])
  }

  init(
    _ status: Int,
    _ code: ErrorCode,
    _ detail: String,
    retryAfter: Int? = nil,
    headers: HTTPFields
  ) {
    self.status = status
    self.code = code
    self.detail = detail
    self.retryAfter = retryAfter
    self.headers = headers
  }

  /// What a refusal by the protocol's rules is over HTTP.
  package init(_ error: ResultError) {
    self.init(Self.status(of: error.code), error.code, error.message, retryAfter: error.retryAfter)
  }

  private static func status(of code: ErrorCode) -> Int {
    switch code {
    case .unknownState, .assetMissing: 404
    case .wrongDestination, .accessLimited: 403
    case .alreadyConsumed, .assetDamaged: 409
    case .expired, .assetDeleted: 410
    case .auth: 401
    case .libraryUnavailable, .destinationUnavailable: 503
    default: 400
    }
  }

  private struct Document: Encodable {
    let type = "about:blank"
    let title: String
    let status: Int
    let detail: String
    let code: ErrorCode
  }

  var response: HTTPResponse {
    var headers = self.headers
    headers.append("Content-Type", "application/problem+json")
    headers.append("Cache-Control", "no-store")
    if let retryAfter { headers.append("Retry-After", String(retryAfter)) }
    let document = Document(title: Self.title(status), status: status, detail: detail, code: code)
    do {
      return HTTPResponse(status, headers, body: .bytes(try WireCoder.encode(document)))
    } catch {
      // Only the body is lost: the status says the same in short.
      return HTTPResponse(status, headers)
    }
  }

  private static func title(_ status: Int) -> String {
    switch status {
    case 400: "Bad Request"
    case 401: "Unauthorized"
    case 403: "Forbidden"
    case 404: "Not Found"
    case 405: "Method Not Allowed"
    case 409: "Conflict"
    case 410: "Gone"
    case 413: "Content Too Large"
    case 416: "Range Not Satisfiable"
    case 421: "Misdirected Request"
    case 503: "Service Unavailable"
    default: "Error \(status)"
    }
  }
}
