import Glibc
import HandoffControl
import HandoffCore
import HandoffProtocol
import HandoffService
import LinuxSystem
import Paths

extension Command {
  /// Takes a result that came back as a URL, or as a document on standard input.
  static let result = Command(
    "result",
    "URL|-",
    "take a result that came back as a URL; - reads it, or a result document, from standard input",
    examples: [
      "handoff result 'handoff://result?protocol_version=3&state=…&result=success'",
      "handoff result - < result.json",
    ]
  ) { arguments in
    guard let operand = arguments.operands.first else {
      throw CommandFailure(.usage, "handoff result: which URL? - reads it from standard input")
    }
    let bytes = operand == "-" ? try await standardInput() : operand.bytes
    guard let text = BytePath(bytes).exactText else {
      throw CommandFailure(.refused, "handoff: malformed_result: it is not UTF-8")
    }
    let report = try await BrokerConnection.ask(
      ConfigurationFile.load(arguments),
      .result,
      ResultParameters(text: text),
      as: HandoffReport.self
    )
    if arguments.has("json") {
      try Terminal.json(report)
    } else {
      Terminal.out("\(report.id) \(report.destination) \(report.status.rawValue)")
    }
    return .done
  }

  private static let longestInput = 65_536

  private static func standardInput() async throws -> [UInt8] {
    let bytes = try await BlockingThread("stdin").run { () throws(SystemError) in
      let input = FileDescriptor(owning: try checked("dup") { dup(STDIN_FILENO) })
      return try input.prefix(longestInput + 1)
    }
    guard bytes.count <= longestInput else {
      let limit = longestInput
      throw CommandFailure(.refused, "handoff: malformed_result: more than \(limit) bytes")
    }
    return bytes
  }
}

extension FileDescriptor {
  /// Reads to the end, or as many bytes.
  fileprivate func prefix(_ count: Int) throws(SystemError) -> [UInt8] {
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: count, alignment: 1)
    defer { buffer.deallocate() }
    var filled = 0
    while filled < count {
      let got = try read(into: UnsafeMutableRawBufferPointer(rebasing: buffer[filled...]))
      if got == 0 { break }
      filled += got
    }
    return Array(buffer[..<filled])
  }
}
