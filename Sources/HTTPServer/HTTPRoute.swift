/// What is done with a request, decided by its head.
package enum HTTPRoute: Sendable {
  /// It is answered at once; a body is not read.
  case answer(HTTPAnswer)
  /// Its body is read into memory, then the answer is made; it may take its time.
  ///
  /// A body over the limit (in bytes) is answered 413, where its length is declared before any of it is
  /// read. The work is cancelled when the server stops, and not when the client goes away.
  case collect(limit: Int, @Sendable (HTTPRequest) async -> HTTPAnswer)
  /// Its body is a form whose parts are taken piece by piece, on the server's thread.
  case form(HTTPForm)
}

/// Who takes a form; see RFC 7578.
///
/// It is called on the server's thread and must not block.
package struct HTTPForm: Sendable {
  /// A piece of one part.
  package struct Piece {
    package let name: String
    package let fileName: String?
    package let contentType: String?
    /// Valid only during the call.
    package let bytes: UnsafeRawBufferPointer
  }

  let take: @Sendable (Piece) -> Void
  let answer: @Sendable () -> HTTPAnswer

  /// - Parameters:
  ///   - take: takes the pieces in order.
  ///   - answer: called once all have come; what is no form is answered 400.
  package init(
    take: @escaping @Sendable (Piece) -> Void,
    answer: @escaping @Sendable () -> HTTPAnswer
  ) {
    self.take = take
    self.answer = answer
  }
}
