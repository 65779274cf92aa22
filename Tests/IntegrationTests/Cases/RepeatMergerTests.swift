import HandoffLog
import Testing

/// What the merging of repeats must not swallow.
@Suite("The log's repeats")
struct RepeatMergerTests {
  @Test("files whose names differ only in a number are told apart")
  func numberedNames() {
    let merger = RepeatMerger()
    let records = (1...3).map { number in
      LogRecord(
        .warning,
        "An export cannot be taken",
        [
          .exportPath: "/exports/IMG_2026120\(number).mp4", .reason: "12345 bytes",
          .handoffID: "h1000\(number)",
        ]
      )
    }
    for record in records { #expect(merger.take(record, at: .zero) == [record]) }
    // Only the words differ.
    var same = records[0]
    same.fields[.reason] = "54321 bytes"
    #expect(merger.take(same, at: .zero) == [])
  }

  @Test("a count is told in time where nothing else is logged")
  func silence() {
    let merger = RepeatMerger()
    let fault = LogRecord(.warning, "no", [.path: "/a"])
    #expect(merger.take(fault, at: .zero) == [fault])
    #expect(merger.take(fault, at: .milliseconds(500)) == [])
    #expect(merger.due(at: .milliseconds(900)) == [])
    #expect(merger.due(at: .seconds(10)).map { $0.fields[.count] } == ["1"])
    #expect(merger.due(at: .seconds(20)) == [])
  }

  @Test("no count is lost when a fault comes again after long, nor when there are very many")
  func forgotten() {
    let merger = RepeatMerger()
    let fault = LogRecord(.warning, "no", [.path: "/a"])
    _ = merger.take(fault, at: .zero)
    _ = merger.take(fault, at: .milliseconds(500))
    let late = RepeatMerger.memory + .seconds(1)
    #expect(merger.take(fault, at: late).map { $0.fields[.count] } == ["1", nil])
    _ = merger.take(fault, at: late)
    let others = (0..<2000).flatMap { number in
      merger.take(LogRecord(.warning, "no", [.path: "/\(number)"]), at: late)
    }
    let told = (others + merger.rest()).filter { $0.fields[.path] == "/a" }
    #expect(told.map { $0.fields[.count] } == ["1"])
  }
}
