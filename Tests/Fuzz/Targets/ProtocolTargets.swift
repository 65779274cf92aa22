import HandoffProtocol

extension FuzzTarget {
  static let request = FuzzTarget("request") { bytes in
    try Documents.check(HandoffRequest.self, bytes, limit: HandoffRequest.maximumSize) { request in
      let identifiers = request.localIdentifiers
      try hold(!identifiers.isEmpty, "a request of nothing")
      try hold(Set(identifiers).count == identifiers.count, "an identifier twice")
      try hold(request.attempt >= 1, "attempt \(request.attempt)")
      try hold(request.mediaType == "video", "another kind of media")
      try hold((1...3).contains(request.protocolVersion), "another version")
    }
  }

  /// What a sender asks for.
  static let send = FuzzTarget("send") { bytes in
    try Documents.check(SendRequest.self, bytes, limit: HandoffRequest.maximumSize)
  }

  static let result = FuzzTarget("result") { bytes in
    try Documents.check(HandoffResult.self, bytes, limit: HandoffResult.maximumSize) { result in
      // None where a member that nobody reads holds a number that no type here does.
      guard let document = try Documents.decode(JSONValue.self, bytes) else { return }
      try ResultShape.check(result, document)
    }
  }

  static let json = FuzzTarget("json") { bytes in
    try Documents.check(JSONValue.self, bytes)
  }

  /// The parameters of messages and the answers to them, by the message's method.
  static let messages = FuzzTarget("messages") { bytes in
    guard let message = try Documents.decode(RPCMessage.self, bytes) else { return }
    try MessageShapes.check(message)
  }
}

/// What a decoded result must have looked like.
enum ResultShape {
  static func check(_ result: HandoffResult, _ document: JSONValue) throws {
    try hold(
      document["protocol_version"]?.integer == Int64(result.protocolVersion),
      "a version that nobody wrote"
    )
    let isToken = document["state"]?.text.map { text in
      StateToken(text)?.matches(result.state) == true
    }
    try hold(isToken == true, "a token that nobody wrote")
    let word = document["result"]?.text
    let error = document["error"] ?? .null
    switch result.outcome {
    case .success(let output):
      try hold(word == "success" && error == .null, "a false success")
      let isWritten = output.allSatisfy { document["output"]?[$0.key] == $0.value }
      try hold(isWritten, "an output that nobody wrote")
    case .cancelled: try hold(word == "cancelled", "a false cancellation")
    case .failure: try hold(word == "failure" && error != .null, "a false failure")
    }
  }
}
