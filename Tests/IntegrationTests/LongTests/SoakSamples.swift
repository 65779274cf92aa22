import Glibc
import HandoffTestSupport
import LinuxSystem
import Paths
import Synchronization
import Testing

/// What the broker and its receivers used during a soak, looked at again and again.
final class SoakSamples: Sendable, CustomStringConvertible {
  private struct Sample: Sendable {
    let broker: BrokerVitals
    /// Of the receivers that live long; bytes.
    let receivers: Int
    /// Bytes.
    let log: Int64
  }

  /// What may come besides, between the first and the last quarter.
  enum Tolerance {
    /// Bytes: the ledger's page caches and the allocator's spare memory fill up in the first quarter.
    static let memory = 24 << 20
    static let descriptors = 6
    /// The runtime's pool.
    static let threads = 4
    /// Bytes: what the ledger's log may have: 4000 pages, and what comes while they are written back.
    static let log: Int64 = 48 << 20
  }

  private let broker: RunningBroker
  private let samples = Mutex<[Sample]>([])

  init(_ broker: RunningBroker) {
    self.broker = broker
  }

  /// Looks once.
  func take() throws {
    guard let id = broker.processID else { throw TestSupportError("no broker runs") }
    let vitals = try BrokerVitals(of: id)
    let log = try FileStatus.of(broker.root.appending("state/ledger.db-wal"))?.size ?? 0
    let receivers = vitals.childIDs.filter { Self.isReceiver($0) }
      .compactMap { try? BrokerVitals.memory(of: $0) }.reduce(0, +)
    samples.withLock { $0.append(Sample(broker: vitals, receivers: receivers, log: log)) }
  }

  /// The plugins that run now.
  func receivers() throws -> [Int32] {
    guard let id = broker.processID else { throw TestSupportError("no broker runs") }
    return try BrokerVitals(of: id).childIDs.filter { Self.isReceiver($0) }
  }

  private static func isReceiver(_ id: Int32) -> Bool {
    guard let file = try? FileDescriptor.open(BytePath("/proc/\(id)/cmdline"), O_RDONLY),
      let bytes = try? file.readAll(limit: 4096)
    else { return false }
    let words = String(decoding: bytes, as: UTF8.self)
    return words.contains("counting-receiver") || words.contains("shaky.py")
  }

  // MARK: Judging

  private enum Quarter {
    case first
    case last
  }

  /// The median of a quarter; the first tenth of all is the start and does not count.
  private func median(_ quarter: Quarter, _ value: (Sample) -> Int) -> Int {
    let all = samples.withLock { Array($0.dropFirst($0.count / 10)) }
    let part = quarter == .first ? all.prefix(all.count / 4) : all.suffix(all.count / 4)
    let values = part.map(value).sorted()
    return values.isEmpty ? 0 : values[values.count / 2]
  }

  private var mostLog: Int64 { samples.withLock { $0.map(\.log).max() ?? 0 } }

  /// Records what has grown.
  func judge(_ seed: UInt64) {
    func expectFlat(_ name: String, _ tolerance: Int, _ value: (Sample) -> Int) {
      let (first, last) = (median(.first, value), median(.last, value))
      #expect(last <= first + tolerance, "seed \(seed): \(name) grew: \(first), then \(last)")
    }
    expectFlat("memory", Tolerance.memory) { $0.broker.memory }
    expectFlat("descriptors", Tolerance.descriptors) { $0.broker.descriptors }
    expectFlat("threads", Tolerance.threads) { $0.broker.threads }
    expectFlat("children", Tolerance.threads) { $0.broker.children.count }
    expectFlat("the receivers' memory", Tolerance.memory) { $0.receivers }
    #expect(mostLog <= Tolerance.log, "seed \(seed): the ledger's log had \(mostLog) bytes")
  }

  var description: String {
    func pair(_ value: (Sample) -> Int) -> String {
      "\(median(.first, value)) → \(median(.last, value))"
    }
    return """
      first → last quarter (medians of \(samples.withLock(\.count)) looks): \
      memory \(pair { $0.broker.memory >> 10 }) KiB, \
      descriptors \(pair { $0.broker.descriptors }), threads \(pair { $0.broker.threads }), \
      children \(pair { $0.broker.children.count }), \
      receivers' memory \(pair { $0.receivers >> 10 }) KiB; \
      the ledger's log at most \(mostLog >> 10) KiB
      """
  }
}
