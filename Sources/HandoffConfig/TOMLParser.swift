import CTOML

/// A document that is not TOML.
struct TOMLSyntaxError: Error {
  var message: String
  var place: Place
}

/// Reads TOML through CTOML, the one place that knows it.
enum TOMLParser {
  /// The root table of a document.
  static func parse(_ bytes: [UInt8]) throws(TOMLSyntaxError) -> TOMLNode {
    let document = bytes.withUnsafeBufferPointer { ctoml_parse($0.baseAddress, $0.count) }
    guard let document else { throw TOMLSyntaxError(message: "out of memory", place: .start) }
    defer { ctoml_free(document) }
    var place = ctoml_place(line: 0, column: 0)
    if let message = ctoml_error(document, &place) {
      throw TOMLSyntaxError(message: String(cString: message), place: Place(place) ?? .start)
    }
    let entries = (0..<ctoml_count(document)).map { Entry(ctoml_get(document, $0)) }
    guard let root = tree(of: entries) else {
      throw TOMLSyntaxError(message: "no document", place: .start)
    }
    return root
  }

  /// Builds from the end: what an entry holds comes after it.
  private static func tree(of entries: [Entry]) -> TOMLNode? {
    var tables: [Int: [TOMLMember]] = [:]
    var arrays: [Int: [TOMLNode]] = [:]
    for (index, entry) in entries.enumerated().reversed() {
      let content: TOMLNode.Content =
        switch entry.content {
        case .table: .table((tables.removeValue(forKey: index) ?? []).sorted(by: inOrder))
        case .array: .array((arrays.removeValue(forKey: index) ?? []).reversed())
        case let scalar: scalar
        }
      let node = TOMLNode(content: content, place: entry.place ?? entry.keyPlace ?? .start)
      guard let parent = entry.parent else { return node }
      if let key = entry.key {
        let place = entry.keyPlace ?? node.place
        tables[parent, default: []].append(TOMLMember(key: key, place: place, node: node))
      } else {
        arrays[parent, default: []].append(node)
      }
    }
    return nil
  }

  private static func inOrder(_ left: TOMLMember, _ right: TOMLMember) -> Bool {
    (left.place.line, left.place.column) < (right.place.line, right.place.column)
  }
}

/// An entry of CTOML's list, copied.
private struct Entry {
  var content: TOMLNode.Content
  var parent: Int?
  var key: String?
  var keyPlace: Place?
  var place: Place?

  init(_ entry: ctoml_entry) {
    let text = String(
      decoding: UnsafeBufferPointer(start: entry.text, count: entry.text_length),
      as: UTF8.self
    )
    content =
      switch entry.kind {
      case CTOML_TABLE: .table([])
      case CTOML_ARRAY: .array([])
      case CTOML_INTEGER: .integer(entry.integer)
      case CTOML_FLOAT: .number(entry.number)
      case CTOML_BOOLEAN: .boolean(entry.integer != 0)
      case CTOML_DATE: .date(text)
      case CTOML_TIME: .time(text)
      case CTOML_DATE_TIME: .dateTime(text)
      default: .string(text)
      }
    parent = entry.parent == Int(bitPattern: UInt.max) ? nil : Int(entry.parent)
    key = entry.key.map { start in
      String(decoding: UnsafeBufferPointer(start: start, count: entry.key_length), as: UTF8.self)
    }
    keyPlace = Place(entry.key_place)
    place = Place(entry.place)
  }
}

extension Place {
  fileprivate init?(_ place: ctoml_place) {
    guard place.line > 0 else { return nil }
    self.init(line: Int(place.line), column: Int(place.column))
  }
}
