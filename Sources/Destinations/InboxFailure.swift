import Glibc
import HandoffProtocol
import LinuxSystem
import Paths

/// What a failed system call in an inbox means for the handoff: it waits, since all of it can pass.
enum InboxFailure {
  /// Does something in an inbox.
  ///
  /// - Throws: ``ResultError`` with effect none: what was staged has no name in the inbox.
  static func reporting<Value>(
    _ inbox: BytePath,
    _ work: () throws(SystemError) -> Value
  ) throws(ResultError) -> Value {
    do throws(SystemError) {
      return try work()
    } catch {
      throw Self.error(error, inbox)
    }
  }

  static func error(_ error: SystemError, _ inbox: BytePath) -> ResultError {
    let name = inbox.displayText
    let (message, remedy): (String, String?) =
      switch error.errno {
      case ENOSPC, EDQUOT:
        ("there is no space left in the inbox \(name)", "make room on its file system")
      case EACCES, EPERM:
        ("the broker may not write in the inbox \(name)", "let the broker's user write there")
      case EROFS: ("the inbox \(name) can only be read", nil)
      case ENOENT: ("the inbox \(name) is not there", "make the folder that it lies in")
      case ENOTDIR: ("the inbox \(name) is not a folder", nil)
      case EINVAL where error.operation == "renameat2":
        (
          "the file system of the inbox \(name) cannot rename without replacing",
          "choose a folder on another one"
        )
      default: ("the inbox \(name) cannot be used: \(error.operation): \(error.reason)", nil)
      }
    return ResultError(
      .destinationUnavailable,
      message,
      effect: .none,
      retry: .later,
      remedy: remedy
    )
  }
}
