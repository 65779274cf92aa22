/// How a process ended.
package enum ExitStatus: Hashable, Sendable, CustomStringConvertible {
  /// It called exit with a code, 0 to 255.
  case exited(Int32)
  /// A signal ended it.
  case signalled(Int32)

  package var description: String {
    switch self {
    case .exited(let code): "exit code \(code)"
    case .signalled(let number): "signal \(number)"
    }
  }
}
