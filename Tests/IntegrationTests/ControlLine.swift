import Glibc
import HandoffProtocol
import HandoffTestSupport
import LinuxSystem
import Paths
import Testing

/// A bare connection to the broker's control socket, for what the command line does not do: many calls
/// at once, and calls whose answers nobody reads.
struct ControlLine {
  private let socket: FileDescriptor

  init(_ scene: Scene) throws {
    socket = try UnixSocket.connect(scene.broker.root.appending("state/handoff.sock"))
  }

  static func call(_ id: Int, _ method: String, _ params: JSONValue) throws -> [UInt8] {
    try WireCoder.encode(RPCMessage.call(.number(Int64(id)), method, params))
      + [UInt8(ascii: "\n")]
  }

  /// What `send` takes.
  static func order(
    _ asset: String,
    to destination: String,
    _ more: [String: JSONValue] = [:]
  ) -> JSONValue {
    let members: [String: JSONValue] = [
      "protocol_version": .integer(3), "media_type": .string("video"),
      "local_identifiers": .array([.string(asset)]), "destination": .string(destination),
      "again": .bool(true),
    ]
    return .object(members.merging(more) { $1 })
  }

  /// - Throws: `EPIPE` when the broker has ended the connection.
  func write(_ bytes: [UInt8]) throws {
    var rest = bytes[...]
    while !rest.isEmpty { rest = rest.dropFirst(try UnixSocket.send(rest, over: socket)) }
  }

  /// Reads so many answers.
  func answers(_ count: Int) async throws -> [RPCMessage] {
    let lines = try await Self.thread.run { () throws -> [[UInt8]] in
      var framer = LineFramer(limit: 64 << 20)
      var lines: [[UInt8]] = []
      let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 65_536, alignment: 1)
      defer { buffer.deallocate() }
      while lines.count < count {
        let read = try socket.read(into: buffer)
        if read == 0 { break }
        lines += try framer.append(buffer[..<read])
      }
      return lines
    }
    try #require(lines.count == count, "only \(lines.count) answers")
    return try lines.map { try WireCoder.decode(RPCMessage.self, from: $0, limit: .max) }
  }

  /// Ends the connection, read or not.
  func close() throws {
    try socket.close()
  }

  private static let thread = BlockingThread("test.control")
}

extension Scene {
  /// An asset of its own, imported by hand.
  func importedAsset(_ number: UInt64) async throws -> String {
    let path = broker.root.appending("by hand \(number).mp4")
    try DurableFile.write(try await Self.video(number), to: path)
    let asset = try await broker.json("import", path)
    return try (asset.elements.first ?? asset).text(of: "local_identifier")
  }

  /// Sends one asset many times over one connection, and returns the handoffs' names.
  func sendMany(_ count: Int, _ asset: String, to destination: String) async throws -> [String] {
    let line = try ControlLine(self)
    for id in 1...count {
      try line.write(ControlLine.call(id, "send", ControlLine.order(asset, to: destination)))
    }
    let answers = try await line.answers(count)
    try line.close()
    return try answers.map { answer in
      try #require(answer.result, "\(String(describing: answer.error))").text(of: "id")
    }
  }

  /// A handoff in full.
  func handoff(_ id: String) async throws -> JSONValue {
    try await broker.json("show", BytePath(id))
  }
}
