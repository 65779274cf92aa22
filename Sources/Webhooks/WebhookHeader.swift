/// The headers of Standard Webhooks, in lower case.
public enum WebhookHeader {
  /// Names the message, the same over all tries: a receiver that has had it drops it.
  public static let id = "webhook-id"
  /// Seconds since 1970 of this try.
  public static let timestamp = "webhook-timestamp"
  /// Signatures, parted by spaces.
  public static let signature = "webhook-signature"

  /// The longest id that is read or written, in bytes.
  static let longestID = 256
  /// The longest list of signatures that is read, in bytes.
  static let longestSignature = 4096

  /// An id has no full stop, so that it cannot be mistaken for another id and timestamp.
  static func isID(_ text: String) -> Bool {
    let allowed = text.utf8.allSatisfy { (0x21...0x7E).contains($0) && $0 != UInt8(ascii: ".") }
    return allowed && !text.isEmpty && text.utf8.count <= longestID
  }
}
