import HandoffPluginKit
import HandoffProtocol
import LinuxSystem

/// What a failed rclone means in the protocol's words, by its exit code and by what it said.
///
/// Nothing of it leaves a copy under its name: what was uploaded under another is swept.
enum RemoteFailure {
  private struct Kind {
    let words: [String]
    let code: ErrorCode
    let retry: RetryAdvice
    var remedy: String?
  }

  /// In the order in which they are tried: a refusal often also speaks of the network that it came over.
  private static let kinds = [
    Kind(
      words: [
        "didn't find section in config", "failed to load config", "unable to decrypt config",
        "couldn't decrypt", "failed to decrypt password", "config file", "unknown flag",
        "unknown backend", "didn't find backend",
      ],
      code: .notConfigured,
      retry: .afterFix,
      remedy:
        "Mend the section in rclone_config; `rclone config show NAME` shows what rclone reads."
    ),
    Kind(
      words: ["knownhosts:", "host key", "x509:", "certificate"],
      code: .auth,
      retry: .afterFix,
      remedy:
        "The server is not the one that is known: compare its key or certificate with what is configured."
    ),
    Kind(
      words: ["nosuchbucket", "bucket does not exist", "bucket not found"],
      code: .notConfigured,
      retry: .afterFix,
      remedy: "Make the bucket, or mend settings.remote."
    ),
    Kind(
      words: [
        "insufficient storage", "no space left", "disk full", "507", "storagequotaexceeded",
        "quota exceeded", "quotaexceeded", "over quota", "not enough space", "capacity",
      ],
      code: .quota,
      retry: .later,
      remedy: "Make room on the remote."
    ),
    Kind(
      words: [
        "429", "too many requests", "toomanyrequests", "slowdown", "slow down", "ratelimit",
        "rate limit",
      ],
      code: .quota,
      retry: .later
    ),
    Kind(
      words: [
        "signaturedoesnotmatch", "invalidaccesskeyid", "accessdenied", "access denied", "forbidden",
        "403", "401", "unauthorized", "unable to authenticate", "invalid_grant", "token expired",
        "expiredtoken", "invalidtoken", "authentication", "failed to read private key",
        "failed to parse private key",
      ],
      code: .auth,
      retry: .afterFix,
      remedy: "Mend the key, password or token in rclone_config, or what it may do on the service."
    ),
    Kind(
      words: ["permission denied", "read-only file system", "is a file not a directory"],
      code: .destinationUnavailable,
      retry: .afterFix,
      remedy: "Let the account write there."
    ),
    Kind(
      words: [
        "dial tcp", "connection refused", "connection reset", "no such host", "i/o timeout",
        "timeout", "timed out", "tls handshake", "eof", "broken pipe", "connection lost",
        "internalerror", "serviceunavailable", "500", "502", "503", "504", "requesterror",
        "server closed", "unreachable", "connection closed",
      ],
      code: .network,
      retry: .later
    ),
  ]

  /// rclone's exit codes; see its manual, “Exit code”.
  private static let temporary: Int32 = 5
  private static let fatal: Int32 = 7

  /// The failure of a command, with what was tried, as in “uploading clip.mp4 to backup:masters”.
  static func error(_ ended: Rclone.Ended, _ doing: String) -> ResultError {
    let said = ended.errors.joined(separator: "; ")
    let message = "\(doing): " + (said.isEmpty ? "rclone ended with \(ended.status)" : said)
    let words = words(ended)
    if let kind = kinds.first(where: { $0.words.contains { has($0, words) } }) {
      return ResultError(kind.code, message, effect: .none, retry: kind.retry, remedy: kind.remedy)
    }
    return ResultError(
      ended.status == .exited(temporary) ? .network : .destinationUnavailable,
      message,
      effect: .none,
      retry: ended.status == .exited(fatal) ? .afterFix : .later
    )
  }

  /// What was said without the names of files: one may be “Certificate of the year 500.mp4”.
  private static func words(_ ended: Rclone.Ended) -> String {
    var words = ended.errors.joined(separator: "; ").lowercased()
    for name in ended.names.sorted(by: { $0.utf8.count > $1.utf8.count }) {
      let name = name.lowercased()
      let misleads = kinds.contains { $0.words.contains { name.contains($0) } }
      if misleads { words = words.replacing(name, with: " ") }
    }
    return words
  }

  /// A short word counts only as a whole: `403` may stand anywhere in a request's number.
  private static func has(_ word: String, _ text: String) -> Bool {
    guard word.utf8.count <= 4 else { return text.contains(word) }
    return text.split { !$0.isLetter && !$0.isNumber }.contains { $0 == word }
  }
}
