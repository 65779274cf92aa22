import Glibc
import HandoffCore
import HandoffProtocol
import LinuxSystem

/// The socket to one worker process, over which every question has one answer.
///
/// Its calls block.
final class ProbeChannel: Sendable {
  /// Why there is no answer.
  enum Failure: Error, Hashable, CustomStringConvertible {
    /// The process was gone before it had the question.
    case notTaken
    case ended
    case tooSlow(Duration)
    case garbled

    var description: String {
      switch self {
      case .notTaken: "was not there"
      case .ended: "crashed on this file"
      case .tooSlow(let limit): "took longer than \(limit) for this file"
      case .garbled: "answered something else than a verdict"
      }
    }
  }

  private let socket: FileDescriptor
  /// No verdict is longer, in bytes.
  private static let answerLimit = 65_536

  private let asked: QuestionCount

  init(_ socket: FileDescriptor, _ asked: QuestionCount) {
    self.socket = socket
    self.asked = asked
  }

  func close() {
    UnixSocket.shutdown(socket)
  }

  /// Sends a file and waits for its verdict.
  ///
  /// - Throws: ``Failure``; the process is of no more use then.
  func ask(_ file: FileDescriptor, size: Int64, limit: Duration) throws -> ProbeVerdict {
    let deadline = ContinuousClock.now.advanced(by: limit)
    try send(Array("\(size)\n".utf8), passing: file)
    asked.increment()
    var framer = LineFramer(limit: Self.answerLimit)
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 4_096, alignment: 1)
    defer { buffer.deallocate() }
    while true {
      try wait(until: deadline, limit)
      let count = try receive(into: buffer)
      if count == 0 { throw Failure.ended }
      let lines = try framer.append(buffer[..<count])
      guard let line = lines.first else { continue }
      // Nothing may follow: it would be taken for the next file's verdict.
      guard lines.count == 1, framer.unfinished.isEmpty else { throw Failure.garbled }
      return try WireCoder.decode(ProbeVerdict.self, from: line, limit: Self.answerLimit)
    }
  }

  private func send(_ question: [UInt8], passing file: FileDescriptor) throws(Failure) {
    do throws(SystemError) {
      let count = try UnixSocket.send(question[...], over: socket, passing: file)
      if count == question.count { return }
    } catch {
      throw .notTaken
    }
    throw .garbled
  }

  private func receive(into buffer: UnsafeMutableRawBufferPointer) throws(Failure) -> Int {
    do throws(SystemError) {
      return try UnixSocket.receive(into: buffer, from: socket).count
    } catch {
      // ECONNRESET: it ended with the question unread.
      throw .ended
    }
  }

  private func wait(until deadline: ContinuousClock.Instant, _ limit: Duration) throws {
    var entry = pollfd(fd: socket.rawValue, events: Int16(POLLIN), revents: 0)
    while true {
      let rest = ContinuousClock.now.duration(to: deadline)
      guard rest > .zero else { throw Failure.tooSlow(limit) }
      let milliseconds = min(rest / .milliseconds(1), 60_000).rounded(.up)
      let ready = try checked("poll") { poll(&entry, 1, CInt(milliseconds)) }
      if ready > 0 { return }
    }
  }
}
