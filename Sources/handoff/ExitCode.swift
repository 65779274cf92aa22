import Glibc

/// The exit codes of CONTRACT.md.
///
/// The order is the one in which a command over many things chooses among their codes.
enum ExitCode: Int32, Comparable {
  case done = 0
  case failed = 1
  case usage = 2
  case notFound = 3
  case refused = 4
  case personNeeded = 5
  case cancelled = 6
  case expired = 7
  case unavailable = 75

  static func < (left: ExitCode, right: ExitCode) -> Bool { left.rawValue < right.rawValue }

  func exit() -> Never {
    Glibc.exit(rawValue)
  }
}

/// A command that ends with a sentence and a code.
struct CommandFailure: Error {
  let code: ExitCode
  let message: String

  init(_ code: ExitCode, _ message: String) {
    self.code = code
    self.message = message
  }
}
