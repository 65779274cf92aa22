import Digests
public import HandoffProtocol

/// A webhook as it came in: its headers are read, and nothing is believed of it until it is verified.
public struct ReceivedWebhook: Sendable {
  /// How far the sender's clock may be from ours, both ways, as the specification recommends.
  public static let tolerance: Duration = .seconds(300)

  /// What ``WebhookHeader/id`` says.
  public let id: String
  /// What ``WebhookHeader/timestamp`` says.
  public let sentAt: Timestamp
  private let seconds: Int64
  private let codes: [[UInt8]]
  private let body: [UInt8]

  /// Reads the headers.
  ///
  /// - Parameters:
  ///   - body: exactly the bytes that came.
  ///   - header: the value of the header with a name in lower case, or nil.
  /// - Throws: ``WebhookError/missingHeader(_:)`` or ``WebhookError/malformedHeader(_:)``.
  public init(body: [UInt8], header: (String) -> String?) throws(WebhookError) {
    guard let id = header(WebhookHeader.id) else { throw .missingHeader(WebhookHeader.id) }
    guard let moment = header(WebhookHeader.timestamp) else {
      throw .missingHeader(WebhookHeader.timestamp)
    }
    guard let signature = header(WebhookHeader.signature) else {
      throw .missingHeader(WebhookHeader.signature)
    }
    guard WebhookHeader.isID(id) else { throw .malformedHeader(WebhookHeader.id) }
    guard let seconds = Self.seconds(moment) else {
      throw .malformedHeader(WebhookHeader.timestamp)
    }
    guard signature.utf8.count <= WebhookHeader.longestSignature else {
      throw .malformedHeader(WebhookHeader.signature)
    }
    self.id = id
    self.seconds = seconds
    self.body = body
    sentAt = Timestamp(milliseconds: seconds * 1000)
    codes = WebhookSignature.codes(in: signature)
  }

  /// Throws unless it was sent about now and one of the secrets has signed it.
  ///
  /// - Parameters:
  ///   - secrets: any of them will do, so that one can be changed without a pause.
  ///   - now: the present moment.
  /// - Returns: the place in the list of the secret that fits.
  /// - Throws: ``WebhookError``.
  @discardableResult
  public func verify(_ secrets: [WebhookSecret], now: Timestamp) throws(WebhookError) -> Int {
    try checkAge(now: now)
    for (index, secret) in secrets.enumerated() where try isSigned(with: secret) {
      return index
    }
    throw .noSignatureFits
  }

  /// Throws where it was not sent about now: an old one may be a copy that somebody plays again.
  public func checkAge(now: Timestamp) throws(WebhookError) {
    let age = now.since(sentAt)
    if age > Self.tolerance { throw .tooOld }
    if age < .zero - Self.tolerance { throw .tooNew }
  }

  /// Whether one of its signatures was made with a secret, in time that does not depend on where they
  /// differ; says nothing of its age.
  public func isSigned(with secret: WebhookSecret) throws(WebhookError) -> Bool {
    let own = try WebhookSignature.code(id: id, timestamp: seconds, body: body, secret: secret)
    var isFound = false
    for code in codes where constantTimeEqual(code, own) { isFound = true }
    return isFound
  }

  /// Digits only, and a moment that can be counted in milliseconds; what is signed is the number's own
  /// text, so it has to be the only one.
  private static func seconds(_ text: String) -> Int64? {
    guard (1...12).contains(text.utf8.count), text.utf8.allSatisfy({ (48...57).contains($0) }),
      let seconds = Int64(text), "\(seconds)" == text
    else { return nil }
    return seconds
  }
}
