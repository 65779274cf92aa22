/// A line and a column of a text, both from 1; columns count code points.
struct Place: Hashable, Sendable {
  var line: Int
  var column: Int

  static let start = Place(line: 1, column: 1)
}

/// A value of a TOML document (toml.io, version 1.0) and where it stands.
struct TOMLNode: Sendable {
  indirect enum Content: Sendable {
    case table([TOMLMember])
    case array([TOMLNode])
    case string(String)
    case integer(Int64)
    case number(Double)
    case boolean(Bool)
    case date(String)
    case time(String)
    case dateTime(String)
  }

  var content: Content
  var place: Place

  /// What it is, for a sentence.
  var kind: String {
    switch content {
    case .table: "a table"
    case .array: "a list"
    case .string: "a text"
    case .integer: "an integer"
    case .number: "a number"
    case .boolean: "true or false"
    case .date: "a date"
    case .time: "a time of day"
    case .dateTime: "a date and time"
    }
  }
}

/// A key and its value in a TOML table.
struct TOMLMember: Sendable {
  var key: String
  var place: Place
  var node: TOMLNode
}
