import CCurl

/// Why there is no answer.
package struct HTTPFailure: Error, Hashable, Sendable, CustomStringConvertible {
  /// What has failed.
  package enum Kind: String, Hashable, Sendable {
    /// The request itself: no URL, another scheme, a header with a line feed.
    case request
    /// The host has no address that could be found.
    case resolving
    /// Nobody listens there, or the way is cut.
    case connecting
    /// No trust was made: an unknown certificate, or no TLS at all.
    case tls
    case timeout
    /// The connection ended before the answer did, or what came is no HTTP.
    case answer
    case other
  }

  package let kind: Kind
  /// The server may have seen the request, or a part of it, and acted on it.
  package let wasSent: Bool
  /// libcurl's own text.
  package let reason: String

  package init(_ kind: Kind, wasSent: Bool, _ reason: String) {
    self.kind = kind
    self.wasSent = wasSent
    self.reason = reason
  }

  package var description: String { reason }

  init(_ code: CURLcode, wasSent: Bool) {
    self.init(Self.kind(of: code), wasSent: wasSent, String(cString: curl_easy_strerror(code)))
  }

  private static func kind(of code: CURLcode) -> Kind {
    switch code {
    case CURLE_URL_MALFORMAT, CURLE_UNSUPPORTED_PROTOCOL, CURLE_READ_ERROR: .request
    case CURLE_COULDNT_RESOLVE_HOST, CURLE_COULDNT_RESOLVE_PROXY: .resolving
    case CURLE_COULDNT_CONNECT: .connecting
    case CURLE_SSL_CONNECT_ERROR, CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_CERTPROBLEM,
      CURLE_SSL_CIPHER, CURLE_SSL_CACERT_BADFILE, CURLE_SSL_ISSUER_ERROR,
      CURLE_SSL_INVALIDCERTSTATUS, CURLE_USE_SSL_FAILED:
      .tls
    case CURLE_OPERATION_TIMEDOUT: .timeout
    case CURLE_GOT_NOTHING, CURLE_RECV_ERROR, CURLE_SEND_ERROR, CURLE_PARTIAL_FILE,
      CURLE_WEIRD_SERVER_REPLY:
      .answer
    default: .other
    }
  }
}
