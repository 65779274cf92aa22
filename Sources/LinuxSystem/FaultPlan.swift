import Glibc
import Synchronization

/// Counts passes through named points and stops at one of them: the seam of the crash tests.
///
/// `HANDOFF_FAULT` is `POINT:N:kill` (SIGKILL to the own process), `POINT:N:stop` (SIGSTOP, so that a test can
/// end others at that moment) or `POINT:N:errno=28`; the point `*` counts every point. A test walks N from 1 on
/// until a run passes. Without the variable a pass costs one comparison.
package final class FaultPlan: Sendable {
  /// What happens when the count is reached.
  package enum Action: Hashable, Sendable {
    case kill
    case stop
    case fail(CInt)
  }

  private let point: String
  private let ordinal: Int
  private let action: Action
  private let isActive: Bool
  private let passes = Atomic<Int>(0)

  /// The plan of this process, read once from its environment.
  package static let current = FaultPlan(environment: environmentValue("HANDOFF_FAULT"))

  /// A plan from its text; nil or a malformed text plans nothing.
  package init(environment text: String?) {
    let parts = (text ?? "").split(separator: ":").map(String.init)
    if parts.count == 3, let ordinal = Int(parts[1]), let action = Action(parts[2]) {
      self.point = parts[0]
      self.ordinal = ordinal
      self.action = action
      self.isActive = true
    } else {
      self.point = ""
      self.ordinal = 0
      self.action = .kill
      self.isActive = false
    }
  }

  /// How many passes through the planned point there were.
  package var count: Int { passes.load(ordering: .relaxed) }

  /// Counts one pass, and carries out the plan when it is this one's turn.
  package func pass(_ name: String) throws(SystemError) {
    guard isActive, point == "*" || point == name else { return }
    guard passes.add(1, ordering: .relaxed).newValue == ordinal else { return }
    switch action {
    case .kill: _ = Glibc.kill(getpid(), SIGKILL)
    // To this thread: one sent to the process may reach another first, and this one goes on meanwhile.
    case .stop: _ = raise(SIGSTOP)
    case .fail(let errno): throw SystemError(errno, name)
    }
  }
}

extension FaultPlan.Action {
  fileprivate init?(_ text: String) {
    if text == "kill" {
      self = .kill
    } else if text == "stop" {
      self = .stop
    } else if text.hasPrefix("errno="), let number = CInt(text.dropFirst(6)) {
      self = .fail(number)
    } else {
      return nil
    }
  }
}

/// The value of one environment variable.
package func environmentValue(_ name: String) -> String? {
  getenv(name).map { String(cString: $0) }
}
