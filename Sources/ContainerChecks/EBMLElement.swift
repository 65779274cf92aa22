/// One element of EBML (RFC 8794).
struct EBMLElement: Hashable {
  /// With its length marker, as specifications print it.
  let id: UInt32
  let offset: Int64
  /// Where the data begins.
  let content: Int64
  /// Bytes of data; nil where the writer did not know.
  let size: Int64?

  /// Why there is no element where one should be, as a sentence.
  struct Defect: Error, Hashable {
    let detail: String
  }

  func end(limit: Int64) -> Int64 {
    size.map { content + $0 } ?? limit
  }

  /// Reads the header of the element at an offset, which has to end by `limit`.
  static func read(_ source: ByteSource, at offset: Int64, limit: Int64) throws -> EBMLElement {
    guard let first = try source.number(at: offset, bytes: 1), first >= 0x10 else {
      throw Defect(detail: "no element where one should be, at \(offset)")
    }
    let idLength = UInt8(first).leadingZeroBitCount + 1
    let id = try source.number(at: offset, bytes: idLength)
    let sizeStart = offset + Int64(idLength)
    guard let id, sizeStart < limit, let size = try VariableNumber.read(source, at: sizeStart)
    else {
      throw Defect(detail: "an unfinished element header at \(offset)")
    }
    let content = sizeStart + Int64(size.length)
    guard content <= limit else {
      throw Defect(detail: "an unfinished element header at \(offset)")
    }
    let element = EBMLElement(
      id: UInt32(truncatingIfNeeded: id),
      offset: offset,
      content: content,
      size: size.isUnknown ? nil : Int64(size.value)
    )
    if let size = element.size, size > limit - content {
      let missing = size - (limit - content)
      throw Defect(
        detail: "the element \(String(element.id, radix: 16)) at \(offset) lacks \(missing) bytes"
      )
    }
    return element
  }

  /// The elements directly inside a range, which they have to fill.
  static func children(
    _ source: ByteSource,
    from start: Int64,
    to end: Int64,
    _ body: (EBMLElement) throws -> Void
  ) throws {
    var offset = start
    while offset < end {
      let element = try read(source, at: offset, limit: end)
      try body(element)
      offset = element.end(limit: end)
    }
  }

  /// An unsigned number of 0 to 8 bytes.
  func unsigned(_ source: ByteSource) throws -> UInt64? {
    guard let size, size <= 8 else { return nil }
    return size == 0 ? 0 : try source.number(at: content, bytes: Int(size))
  }

  /// A floating-point number of 4 or 8 bytes.
  func float(_ source: ByteSource) throws -> Double? {
    guard let bits = try unsigned(source) else { return nil }
    return switch size {
    case 4: Double(Float(bitPattern: UInt32(truncatingIfNeeded: bits)))
    case 8: Double(bitPattern: bits)
    default: nil
    }
  }

  /// A text of at most 64 bytes.
  func text(_ source: ByteSource) throws -> String {
    let bytes = try source.bytes(at: content, count: Int(min(size ?? 0, 64)))
    return String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
  }
}

/// A number whose first bits say how long it is (RFC 8794, section 4).
struct VariableNumber {
  let value: UInt64
  /// 1 to 8 bytes.
  let length: Int
  /// All bits of the value are set, which means "unknown" in a size.
  let isUnknown: Bool

  static func read(_ source: ByteSource, at offset: Int64) throws -> VariableNumber? {
    guard let first = try source.number(at: offset, bytes: 1), first != 0 else { return nil }
    let length = UInt8(first).leadingZeroBitCount + 1
    guard let raw = try source.number(at: offset, bytes: length) else { return nil }
    let mask: UInt64 = (1 << UInt64(7 * length)) - 1
    return VariableNumber(value: raw & mask, length: length, isUnknown: raw & mask == mask)
  }
}
