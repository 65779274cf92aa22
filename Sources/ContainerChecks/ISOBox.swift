/// One box of ISO/IEC 14496-12, or one atom of QuickTime.
struct ISOBox: Hashable {
  let type: FourCC
  let offset: Int64
  /// 8, or 16 with a 64-bit size.
  let headerSize: Int64
  /// With the header, in bytes.
  let size: Int64

  var content: Int64 { offset + headerSize }
  var end: Int64 { offset + size }
  var isPadding: Bool { type == "free" || type == "skip" || type == "wide" }

  /// Why there is no box where one should be, as a sentence.
  struct Defect: Error, Hashable {
    let detail: String
  }

  /// Reads the header of the box at an offset, which has to end by `limit`.
  ///
  /// A size of 0 means "to the end of the file", for an outermost box only.
  static func read(
    _ source: ByteSource,
    at offset: Int64,
    limit: Int64,
    isOutermost: Bool
  ) throws -> ISOBox {
    guard limit - offset >= 8, let short = try source.word(at: offset),
      let type = try source.code(at: offset + 4)
    else {
      throw Defect(detail: "\(limit - offset) bytes of an unfinished box header at \(offset)")
    }
    guard type.rawValue != 0 else {
      throw Defect(detail: "zeros where a box should be, at \(offset)")
    }
    var header: Int64 = 8
    var size = Int64(short)
    if short == 0, isOutermost { size = limit - offset }
    if short == 1 {
      header = 16
      guard limit - offset >= 16, let long = try source.number(at: offset + 8, bytes: 8) else {
        throw Defect(detail: "an unfinished box header at \(offset)")
      }
      size = Int64(clamping: long)
    }
    guard size >= header else {
      throw Defect(detail: "the box '\(type.text)' at \(offset) has the impossible size \(size)")
    }
    guard size <= limit - offset else {
      let missing = size - (limit - offset)
      throw Defect(detail: "the box '\(type.text)' at \(offset) lacks its last \(missing) bytes")
    }
    return ISOBox(type: type, offset: offset, headerSize: header, size: size)
  }

  /// The boxes directly inside a range, which they have to fill.
  ///
  /// Up to seven zero bytes may follow the last: QuickTime ends some lists so.
  static func children(
    _ source: ByteSource,
    from start: Int64,
    to end: Int64,
    _ body: (ISOBox) throws -> Void
  ) throws {
    var offset = start
    while offset < end {
      if end - offset < 8 {
        let rest = try source.bytes(at: offset, count: Int(end - offset))
        if rest.allSatisfy({ $0 == 0 }) { return }
      }
      let box = try read(source, at: offset, limit: end, isOutermost: false)
      try body(box)
      offset = box.end
    }
  }
}
