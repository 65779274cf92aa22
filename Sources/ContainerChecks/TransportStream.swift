/// Looks at an MPEG transport stream: whole packets, and a sync byte in each that is looked at.
enum TransportStream {
  private static let sync: UInt8 = 0x47

  /// 188, 192 or 204, if the first bytes are packets of that size.
  static func packetSize(_ head: [UInt8]) -> Int? {
    [188, 192, 204].first { size in
      let start = size == 192 ? 4 : 0
      let places = stride(from: start, to: head.count, by: size)
      let seen = places.filter { head[$0] == sync }.count
      return seen >= min(3, head.count / size + 1) && seen == Array(places).count
        && head.count > size
    }
  }

  static func report(_ source: ByteSource, packet: Int) throws -> StructureReport {
    let size = Int64(packet)
    let rest = source.size % size
    guard rest == 0 else {
      return .incomplete(source, "the last packet is cut: \(rest) of \(packet) bytes")
    }
    let count = source.size / size
    var scrambled = 0
    let places = Set((0..<16).map { count * Int64($0) / 16 } + (max(0, count - 32)..<count))
    for place in places.sorted() {
      let start = place * size + (packet == 192 ? 4 : 0)
      guard let header = try source.word(at: start), UInt8(header >> 24) == sync else {
        return .incomplete(source, "no packet where one should be, at \(start)")
      }
      // transport_scrambling_control; null packets (PID 0x1fff) carry nothing.
      if header & 0xc0 != 0, header >> 8 & 0x1fff != 0x1fff { scrambled += 1 }
    }
    return StructureReport(
      Finding(.notProvable, "\(count) whole packets; transport streams declare no end"),
      contentEnd: source.size,
      encryption: scrambled > 0 ? "packets are scrambled" : nil
    )
  }
}
