/// Walks AVI: one RIFF chunk, or several (OpenDML), that fill the file, and an index.
enum RIFFChunks {
  static func report(_ source: ByteSource) throws -> StructureReport {
    var offset: Int64 = 0
    var count = 0
    var last: FourCC?
    var end: Int64 = 0
    while offset + 12 <= source.size, try source.code(at: offset) == "RIFF" {
      let size = Int64(try source.littleWord(at: offset + 4) ?? 0)
      guard size >= 4 else {
        return .incomplete(source, "the RIFF size is not written yet: an unfinished recording")
      }
      end = offset + 8 + size
      guard end <= source.size else {
        return .incomplete(source, "the RIFF chunk at \(offset) lacks \(end - source.size) bytes")
      }
      switch try walk(source, from: offset + 12, to: end) {
      case .failure(let defect): return .incomplete(source, defect.detail)
      case .success(let chunk): last = chunk
      }
      count += 1
      offset = end + end % 2
    }
    guard count > 0 else { return .incomplete(source, "no RIFF chunk") }
    return StructureReport(
      Finding(.passed, detail(source, count, end)),
      contentEnd: source.size,
      endsInMedia: last == "LIST",
      needsIndex: true
    )
  }

  private struct Defect: Error {
    let detail: String
  }

  /// The chunks inside one RIFF chunk; gives the last that is not padding.
  private static func walk(
    _ source: ByteSource,
    from start: Int64,
    to end: Int64
  ) throws -> Result<FourCC?, Defect> {
    var offset = start
    var last: FourCC?
    while offset < end {
      guard end - offset >= 8, let type = try source.code(at: offset), type.rawValue != 0,
        let size = try source.littleWord(at: offset + 4)
      else {
        // One byte of alignment may be left.
        if end - offset == 1 { break }
        return .failure(Defect(detail: "no chunk where one should be, at \(offset)"))
      }
      let next = offset + 8 + Int64(size)
      guard next <= end else {
        return .failure(Defect(detail: "the chunk '\(type.text)' at \(offset) is not whole"))
      }
      if type != "JUNK" { last = type }
      offset = next + next % 2
    }
    return .success(last)
  }

  private static func detail(_ source: ByteSource, _ count: Int, _ end: Int64) -> String {
    let what = count == 1 ? "one RIFF chunk" : "\(count) RIFF chunks"
    let rest = source.size - end
    return rest > 1 ? "\(what), followed by \(rest) bytes more" : "\(what) from end to end"
  }
}
