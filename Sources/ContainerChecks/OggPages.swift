/// Looks at the last page of an Ogg file (RFC 3533), which has to end with the file.
enum OggPages {
  private static let largest: Int64 = 65_307
  private static let headerSize: Int64 = 27

  static func report(_ source: ByteSource) throws -> StructureReport {
    let start = max(0, source.size - largest)
    let tail = try source.bytes(at: start, count: Int(largest))
    let capture = Array("OggS".utf8)
    for place in tail.indices.reversed() where tail[place...].starts(with: capture) {
      let offset = start + Int64(place)
      guard let end = try pageEnd(source, offset) else { continue }
      // Packets may hold the capture pattern too, so an earlier place is looked at as well.
      guard end == source.size else { continue }
      return StructureReport(
        Finding(.notProvable, "whole pages; Ogg files declare no end"),
        contentEnd: source.size
      )
    }
    return .incomplete(source, "the last page is cut")
  }

  private static func pageEnd(_ source: ByteSource, _ offset: Int64) throws -> Int64? {
    guard let count = try source.number(at: offset + headerSize - 1, bytes: 1) else { return nil }
    let lengths = try source.bytes(at: offset + headerSize, count: Int(count))
    guard lengths.count == Int(count) else { return nil }
    return offset + headerSize + Int64(count) + lengths.reduce(0) { $0 + Int64($1) }
  }
}
