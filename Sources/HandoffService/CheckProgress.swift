package import HandoffControl
package import HandoffProtocol
import Synchronization

/// How far a check of the library is, for whoever follows it.
///
/// Reading reports each piece; followers are woken at most ten times a second.
package final class CheckProgress: Sendable {
  private struct State {
    var report: CheckReport
    var lastWake = ContinuousClock.now
    var lastListener = 0
    var listeners: [Int: WakeSignal] = [:]
  }

  /// How long a follower waits at most: one that has hung up is then let go.
  private static let patience: Duration = .seconds(10)
  private static let pause: Duration = .milliseconds(100)

  private let state: Mutex<State>

  package init(startedAt: Timestamp) {
    state = Mutex(State(report: CheckReport(state: .running, startedAt: startedAt)))
  }

  package var report: CheckReport { state.withLock(\.report) }

  func change(_ change: (inout CheckReport) -> Void) {
    let listeners = state.withLock { state in
      change(&state.report)
      state.report.step += 1
      state.lastWake = .now
      return Array(state.listeners.values)
    }
    for listener in listeners { listener.signal() }
  }

  func found(_ finding: CheckReport.Finding) {
    change { $0.findings.append(finding) }
  }

  /// Counts bytes that were read.
  func read(_ count: Int) {
    let listeners = state.withLock { state -> [WakeSignal] in
      state.report.bytes += Int64(count)
      guard state.lastWake.duration(to: .now) >= Self.pause else { return [] }
      state.report.step += 1
      state.lastWake = .now
      return Array(state.listeners.values)
    }
    for listener in listeners { listener.signal() }
  }

  /// Does work whose failure ends the report too, so that nobody follows it for ever.
  func failing<Value>(_ work: () async throws -> Value) async throws -> Value {
    do {
      return try await work()
    } catch {
      change { report in
        report.state = .failed
        report.error = "\(error)"
      }
      throw error
    }
  }

  /// The report once it has changed or ended, or after some seconds as it is.
  package func next(after step: Int) async -> CheckReport {
    let signal = WakeSignal()
    let number = state.withLock { state in
      state.lastListener += 1
      state.listeners[state.lastListener] = signal
      return state.lastListener
    }
    defer { state.withLock { $0.listeners[number] = nil } }
    let report = self.report
    guard report.state == .running, report.step <= step else { return report }
    await signal.wait(atMost: Self.patience)
    return self.report
  }
}
