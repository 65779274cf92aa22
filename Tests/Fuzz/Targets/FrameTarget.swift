import HandoffProtocol

extension FuzzTarget {
  /// A byte stream as a peer sends it, cut anywhere: the first byte tells into how large pieces.
  static let frames = FuzzTarget("frames") { bytes in
    guard let first = bytes.first else { return }
    let stream = Array(bytes.dropFirst())
    let pieces = Pieces(stream, size: Int(first) + 1)
    let lines = try framed(pieces, limit: longestLine)
    try hold(lines == wholeLines(stream), "other lines than were sent")
    for line in lines ?? [] {
      try Documents.check(RPCMessage.self, line, limit: longestLine)
    }
  }

  private static let longestLine = 512

  /// The lines that the framer gives; nil where it refused the stream.
  private static func framed(_ pieces: Pieces, limit: Int) throws -> [[UInt8]]? {
    var framer = LineFramer(limit: limit)
    var lines: [[UInt8]] = []
    do {
      for piece in pieces { lines += try framer.append(piece) }
    } catch let error as ProtocolError {
      try Refusals.checkSentence(error.message)
      return nil
    }
    try hold(framer.unfinished.count <= limit, "more kept than a line may have")
    return lines
  }

  /// The same, found by looking at the stream as a whole.
  private static func wholeLines(_ stream: [UInt8]) -> [[UInt8]]? {
    let lines = stream.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
    guard lines.allSatisfy({ $0.count <= longestLine }) else { return nil }
    return lines.dropLast().filter { !$0.isEmpty }.map(Array.init)
  }
}

/// A stream in pieces of one size; the last may be smaller.
private struct Pieces: Sequence, IteratorProtocol {
  private var rest: ArraySlice<UInt8>
  private let size: Int

  init(_ bytes: [UInt8], size: Int) {
    rest = bytes[...]
    self.size = size
  }

  mutating func next() -> ArraySlice<UInt8>? {
    guard !rest.isEmpty else { return nil }
    defer { rest = rest.dropFirst(size) }
    return rest.prefix(size)
  }
}
