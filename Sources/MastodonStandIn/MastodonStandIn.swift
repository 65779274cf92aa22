import HTTPServer
package import LinuxSystem
import Synchronization

/// A strict local stand-in for a Mastodon server, for `handoff demo` and the tests.
///
/// It knows one account, whose token it requires, and the calls that the social receiver makes, and does what
/// docs.joinmastodon.org says of them. It keeps nothing of an upload but its size and digest. It can be told to
/// fail at each step.
package final class MastodonStandIn: Sendable {
  let account: StandInAccount
  private let running = Mutex<HTTPServer?>(nil)

  /// - Parameters:
  ///   - token: what the account's requests must bear.
  ///   - rules: how the server is.
  package init(token: String, rules: StandInRules = StandInRules()) {
    account = StandInAccount(token: token, rules: rules)
  }

  /// - Parameters:
  ///   - token: what the account's requests must bear.
  ///   - processingPolls: see ``StandInRules``.
  ///   - honoursKeys: see ``StandInRules``.
  package convenience init(token: String, processingPolls: Int = 2, honoursKeys: Bool = true) {
    var rules = StandInRules()
    rules.processingPolls = processingPolls
    rules.honoursKeys = honoursKeys
    self.init(token: token, rules: rules)
  }

  /// Listens on 127.0.0.1, on a port of the kernel's choice, until ``stop()`` or the end of this object.
  ///
  /// - Returns: the port.
  package func start() throws(SystemError) -> UInt16 {
    let (listener, port) = try TCPSocket.listen(host: "127.0.0.1", port: 0)
    let server = try HTTPServer(listener) { [account] head in
      StandInExchange.route(head, account)
    }
    account.listens(on: port)
    running.withLock { $0 = server }
    return port
  }

  /// Ends the connections and the server's thread; does nothing when it does not run.
  package func stop() async {
    let ended = running.withLock { running in
      defer { running = nil }
      return running
    }
    await ended?.stop()
  }

  /// Everything that was published, oldest first.
  package var statuses: [PublishedStatus] { account.statuses }

  /// What is scheduled and not published yet, oldest first.
  package var scheduled: [ScheduledPost] { account.scheduled }

  /// The moment of what is scheduled has come: it is published.
  package func publishScheduled() {
    account.publishScheduled()
  }

  /// The account's owner deletes what is scheduled.
  package func deleteScheduled() {
    account.deleteScheduled()
  }

  /// The server forgets uploads that no status shows.
  package func forgetUploads() {
    account.forgetUploads()
  }

  /// The token is another account's from now on, which has no upload of the former and sees its statuses.
  package func changeAccount() {
    account.changeAccount()
  }

  /// How often a step was asked for.
  package func count(_ step: StandInStep) -> Int { account.count(step) }

  /// Every upload that has arrived whole, oldest first.
  package var uploads: [ReceivedUpload] { account.uploads }

  /// Fails the next requests for a step, in order.
  package func fail(_ step: StandInStep, _ faults: StandInFault...) {
    account.plan(faults, for: step)
  }

  /// Calls back on the server's thread when a step has done its work, before it is answered.
  package func onDone(_ call: @escaping @Sendable (StandInStep) -> Void) {
    account.onDone(call)
  }
}

/// What a client can ask for.
package enum StandInStep: String, Hashable, Sendable, CaseIterable {
  case upload
  case media
  case publish
  case account
  case list
  case scheduled
  case scheduledList
  case instance
  case application
}

/// How a step goes wrong.
package enum StandInFault: Hashable, Sendable {
  /// Nothing is done; the answer has this status and, where given, `Retry-After` in seconds.
  case refuse(Int, retryAfter: Int? = nil)
  /// Nothing is done; 429 until a moment so many seconds from now (`X-RateLimit-Reset`).
  case rateLimit(seconds: Int)
  /// Nothing is done, and the connection ends without an answer.
  case dropBefore
  /// It is done, and the connection ends without an answer.
  case dropAfter
  /// It is done, and the answer is no JSON.
  case garble
  /// The connection ends at once without an answer, and a publication is done so much later, whatever has come
  /// meanwhile: two requests at once do not see each other.
  case doLate(Duration)
  /// Nothing is done; the answer has this status and repeats the token.
  case echo(Int)
  /// It is done as if nothing were wrong: for counting.
  case pass
}

/// A status as it was published.
package struct PublishedStatus: Hashable, Sendable {
  package let id: String
  package let text: String
  package let mediaIDs: [String]
  package let visibility: String
  package let language: String?
  /// The `Idempotency-Key` of the request.
  package let key: String?
  /// RFC 3339.
  package let createdAt: String
}

/// A status that is to be published later.
package struct ScheduledPost: Hashable, Sendable {
  package let id: String
  /// RFC 3339.
  package let moment: String
  /// As it will be published.
  package let status: PublishedStatus
}

/// An upload that has arrived whole.
package struct ReceivedUpload: Hashable, Sendable {
  package let id: String
  /// 64 hexadecimal digits.
  package let sha256: String
  /// Bytes.
  package let size: Int64
  package let fileName: String
  package let contentType: String
  /// The alternative text.
  package let description: String?
}
