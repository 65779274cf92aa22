import HTTPClient

/// Makes a connection to a server, as far as TLS where its address asks for that, and sends nothing.
package struct ConnectionTrial: Sendable {
  private let url: String

  /// - Parameter url: whose host and port count.
  package init(_ url: String) {
    self.url = url
  }

  /// Connects.
  ///
  /// - Parameter limit: how long that may take.
  /// - Returns: why there is no connection; nil where there was one.
  /// - Throws: `CancellationError`.
  package func fault(within limit: Duration) async throws -> String? {
    var request = HTTPRequest("GET", url)
    request.onlyConnects = true
    request.limits.connecting = limit
    request.limits.total = limit
    do {
      _ = try await HTTPClient(agent: "handoff").exchange(request)
      return nil
    } catch let failure as HTTPFailure {
      return failure.reason
    }
  }
}
