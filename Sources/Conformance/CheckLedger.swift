import Synchronization

/// Collects how the checks went.
final class CheckLedger: Sendable {
  private struct State {
    var report = ConformanceReport()
    var made: Set<CheckName> = []
    var faults: [CheckName: Finding] = [:]
  }

  private let state = Mutex(State())
  private let onEntry: @Sendable (ConformanceReport.Entry) -> Void

  init(onEntry: @escaping @Sendable (ConformanceReport.Entry) -> Void) {
    self.onEntry = onEntry
  }

  /// Adds a verdict; the first one of a check counts.
  func add(_ name: CheckName, _ verdict: Verdict) {
    let isNew = state.withLock { state in
      guard state.made.insert(name).inserted else { return false }
      state.report.add(name, verdict)
      return true
    }
    if isNew { onEntry(ConformanceReport.Entry(name: name, verdict: verdict)) }
  }

  /// Skips checks.
  func skip(_ names: [CheckName], _ reason: String) {
    for name in names { add(name, .skipped(reason)) }
  }

  /// Notes what is wrong with a standing check; the first counts.
  func fault(_ name: CheckName, _ finding: Finding, _ transcript: Transcript) {
    var finding = Finding(transcript.redacted(finding.got), mend: finding.mend)
    finding.exchange = transcript.tail(6)
    state.withLock { state in
      if state.faults[name] == nil { state.faults[name] = finding }
    }
  }

  /// Gives the standing checks their verdicts, once all handoffs have been made.
  func settle() {
    let (faults, passed) = state.withLock { ($0.faults, Set($0.report.passed)) }
    for name in CheckName.standing {
      if let finding = faults[name] {
        add(name, .failed(finding))
      } else if passed.contains(.result)
        || (passed.contains(.starts) && [.startsAgain, .wellFormed].contains(name))
      {
        add(name, .passed)
      }
    }
  }

  /// Makes one check in a running plugin.
  ///
  /// - Returns: what it found out; nil where it failed or was skipped.
  @discardableResult
  func check<Value: Sendable>(
    _ name: CheckName,
    _ life: PluginLife,
    _ body: () async throws -> Value
  ) async throws -> Value? {
    let value = try await attempt(name, life, body)
    if value != nil { add(name, .passed) }
    return value
  }

  /// Makes the first part of a check, which may fail it and cannot pass it.
  func attempt<Value: Sendable>(
    _ name: CheckName,
    _ life: PluginLife,
    _ body: () async throws -> Value
  ) async throws -> Value? {
    do {
      return try await body()
    } catch let skip as Skip {
      add(name, .skipped(skip.reason))
    } catch let finding as Finding {
      add(name, .failed(await finding.completed(by: life)))
    }
    return nil
  }

  /// The report; what was not made needs something that failed, or was not asked for.
  func finish(isWhole: Bool) -> ConformanceReport {
    let failed = state.withLock { $0.report.failures.first?.name.rawValue }
    let reason = failed.map { "not made: `\($0)` has failed" } ?? "not made"
    skip(CheckName.allCases, isWhole ? reason : "not asked for")
    return state.withLock { $0.report }
  }
}

extension Finding {
  /// The finding with the messages before it, and with the plugin's end where it has ended.
  func completed(by life: PluginLife) async -> Finding {
    let end = await life.ending().map { "; \($0)" } ?? ""
    let text = life.transcript.redacted(got + end)
    var finding = Finding(text, mend: mend)
    finding.exchange = life.transcript.tail(6)
    return finding
  }
}
