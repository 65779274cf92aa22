/// Cuts a byte stream into lines, with a limit that holds before a line is complete.
public struct LineFramer: Sendable {
  private var partial: [UInt8] = []
  private let limit: Int

  /// - Parameter limit: the longest line, in bytes, without its line feed.
  public init(limit: Int = RPCMessage.maximumSize) {
    self.limit = limit
  }

  /// Bytes after the last line feed: what a peer that died left unfinished.
  public var unfinished: [UInt8] { partial }

  /// Takes more bytes and returns the lines that they complete, without line feeds and empty lines.
  ///
  /// - Throws: ``ProtocolError`` when a line is longer than the limit; the stream is then of no more use.
  public mutating func append(_ bytes: some Collection<UInt8>) throws -> [[UInt8]] {
    var lines: [[UInt8]] = []
    // An array, so that the search is compiled for bytes and not for any collection.
    var rest = Array(bytes)[...]
    while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
      let line = partial + rest[..<end]
      guard line.count <= limit else { throw tooLong }
      partial.removeAll(keepingCapacity: true)
      if !line.isEmpty { lines.append(line) }
      rest = rest[(end + 1)...]
    }
    guard partial.count + rest.count <= limit else { throw tooLong }
    partial += rest
    return lines
  }

  private var tooLong: ProtocolError {
    ProtocolError(.malformedRequest, "a message of more than \(limit) bytes")
  }
}
