package import HandoffProtocol

/// A value that the test itself has made right.
package func known<Value>(_ value: Value?) -> Value {
  guard let value else { preconditionFailure("the test makes a value that cannot be") }
  return value
}

extension HandoffResult.Outcome {
  /// The error of a failure.
  package var failure: ResultError? {
    guard case .failure(let error) = self else { return nil }
    return error
  }

  /// The output of a success.
  package var output: [String: JSONValue]? {
    guard case .success(let output) = self else { return nil }
    return output
  }
}
