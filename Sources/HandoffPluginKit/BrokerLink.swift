import HandoffProtocol

/// The way to the broker.
struct BrokerLink: Sendable {
  /// Sends a message and waits for its answer.
  ///
  /// Throws `RPCMessage.Failure` where the broker refuses, ``BrokerGone`` where it cannot be reached.
  let call: @Sendable (MessageMethod, JSONValue) async throws -> JSONValue
}

/// The socket to the broker has ended: what is being worked on is left for `reconcile`.
struct BrokerGone: Error, CustomStringConvertible {
  var description: String { "the broker is gone" }
}
