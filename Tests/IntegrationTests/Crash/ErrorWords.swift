import Glibc

/// What an error is called where the broker tells of it.
struct ErrorWords {
  /// The system's words for it, and SQLite's for what it makes of it.
  private let words: [String]

  /// - Parameter plan: How the calls fail.
  init(_ plan: FaultSeam.Plan) {
    words =
      switch plan {
      case .kill: []
      case .fail(_, EAGAIN, _): ["locked", "busy", "BUSY"]
      case .fail(_, let errno, _):
        [String(cString: strerror(errno)), "is full", "disk I/O error", "readonly"]
          + Self.names(errno)
      }
  }

  private static func names(_ errno: CInt) -> [String] {
    switch errno {
    case ENOSPC: ["ENOSPC", "no room", "no space"]
    case EDQUOT: ["EDQUOT", "no room", "no space"]
    case EROFS: ["EROFS", "can only be read"]
    default: ["EIO"]
    }
  }

  /// Whether a line of the log has them; what people need not see does not count.
  func areSaid(in log: String) -> Bool {
    log.split(separator: "\n").contains { line in
      [" NOTICE ", " WARNING ", " ERROR "].contains { line.contains($0) }
        && words.contains { line.contains($0) }
    }
  }
}
