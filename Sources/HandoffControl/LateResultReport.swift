package import HandoffProtocol

/// A result that came after its handoff had ended, as `handoff show ID --json` lists it.
package struct LateResultReport: Codable, Sendable {
  package var at: Timestamp
  /// `success`, `cancelled` or `failure`.
  package var result: String
  package var output: [String: JSONValue]
  @OrNull package var errorCode: ErrorCode?
  @OrNull package var errorMessage: String?

  package init(
    at: Timestamp,
    result: String,
    output: [String: JSONValue],
    errorCode: ErrorCode?,
    errorMessage: String?
  ) {
    self.at = at
    self.result = result
    self.output = output
    self.errorCode = errorCode
    self.errorMessage = errorMessage
  }

  private enum CodingKeys: String, CodingKey {
    case at
    case result
    case output
    case errorCode = "error_code"
    case errorMessage = "error_message"
  }
}
