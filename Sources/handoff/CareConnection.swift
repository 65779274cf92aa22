import HandoffConfig
import HandoffControl
import HandoffLog
import HandoffProtocol
import HandoffService
import Paths

/// Where the library's care is done: by the broker that runs, else here, under its lock.
enum CareConnection {
  /// What is open: the library and the ledger here, or nothing, since the broker has them.
  enum Place {
    case here(LibraryCare)
    case broker
  }

  static func open(_ configuration: Configuration) async throws -> Place {
    do {
      return .here(try await LibraryCare.open(configuration, logger: logger))
    } catch let error as ServiceError where error.code == .alreadyRunning {
      return .broker
    } catch let error as ControlError {
      throw BrokerConnection.failure(error)
    }
  }

  /// Only what a person has to know: what is found stands in the report.
  static let logger = Logger(threshold: .error) { record in
    if record.level == .critical {
      Terminal.error(LineFormat.line(record, time: SystemClock.now().rfc3339))
    }
  }

  /// Does work here and gives lock and ledger back, whatever comes of it.
  static func here<Value>(
    _ care: LibraryCare,
    _ work: () async throws -> Value
  ) async throws -> Value {
    do {
      let value = try await work()
      try await care.close()
      return value
    } catch let error as ControlError {
      try await care.close()
      throw BrokerConnection.failure(error)
    }
  }

  /// Follows a report until it has ended.
  static func follow(_ progress: CheckProgress, _ bar: inout ProgressBar) async {
    var report = progress.report
    while report.state == .running {
      bar.show(report)
      report = await progress.next(after: report.step)
    }
    bar.show(report)
  }
}

extension ProgressBar {
  mutating func show(_ report: CheckReport) {
    show(
      report.objects,
      of: report.objectsTotal,
      bytes: report.bytes,
      ofBytes: report.bytesTotal
    )
  }
}
