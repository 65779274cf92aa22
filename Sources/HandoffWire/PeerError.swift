import HandoffProtocol

/// Why a call has no answer, other than an answer that says so (``RPCMessage/Failure``).
package enum PeerError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The connection had ended before: the peer has not seen the call.
  case notSent
  /// The connection has ended; whether the peer saw the call is not known.
  case closed
  /// No answer came in time; the peer may still act.
  case timedOut(method: String)
  /// The peer does not read what it is sent, so the connection was ended.
  case notReading

  package var description: String {
    switch self {
    case .notSent: "there is no connection any more"
    case .closed: "the connection has ended"
    case .timedOut(let method): "no answer to \(method) in time"
    case .notReading: "the peer does not read"
    }
  }
}
