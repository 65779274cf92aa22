import Glibc
package import Paths

/// A system call that failed, with what it was done to.
package struct SystemError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The errno value; see errno(3).
  package let errno: CInt
  /// The system call's name.
  package let operation: String
  /// The path it was done to, where there is one.
  package let path: BytePath?

  package init(_ errno: CInt, _ operation: String, _ path: BytePath? = nil) {
    self.errno = errno
    self.operation = operation
    self.path = path
  }

  /// The error of the call that has just failed; read it before any other call.
  package static func last(_ operation: String, _ path: BytePath? = nil) -> SystemError {
    SystemError(Glibc.errno, operation, path)
  }

  /// The same attempt may succeed later without anybody changing the input: no space, no memory,
  /// no descriptor, a busy or vanished device.
  package var mayPass: Bool {
    [
      EAGAIN, EBUSY, EDQUOT, EINTR, EIO, EMFILE, ENFILE, ENOMEM, ENOSPC, EROFS, ESTALE, ETIMEDOUT,
    ].contains(errno)
  }

  /// The text of strerror(3), without operation or path.
  package var reason: String {
    strerror(errno).map { String(cString: $0) } ?? "error \(errno)"
  }

  package var description: String {
    guard let path else { return "\(operation): \(reason)" }
    return "\(operation) \(path.displayText): \(reason)"
  }
}

/// Repeats a call that a signal interrupted, and throws for every other -1.
@discardableResult
package func checked<Value: FixedWidthInteger & SignedInteger>(
  _ operation: String,
  _ path: BytePath? = nil,
  _ call: () -> Value
) throws(SystemError) -> Value {
  while true {
    let value = call()
    if value != -1 { return value }
    let error = SystemError.last(operation, path)
    if error.errno != EINTR { throw error }
  }
}
