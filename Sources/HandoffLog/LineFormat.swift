/// Writes a record as one physical line: level, sentence, then `key=value` with values quoted.
package enum LineFormat {
  package static func line(_ record: LogRecord, time: String) -> String {
    let fields = record.fields.sorted { $0.key < $1.key }.map { key, value in
      "\(key.rawValue)=\(quoted(value))"
    }
    return ([time, name(record.level), record.message] + fields).joined(separator: " ")
  }

  private static func name(_ level: LogRecord.Level) -> String {
    switch level {
    case .critical: "CRITICAL"
    case .error: "ERROR"
    case .warning: "WARNING"
    case .notice: "NOTICE"
    case .info: "INFO"
    case .debug: "DEBUG"
    }
  }

  /// The value in quotes where it is more than one word; control and format characters are escaped, so
  /// that no file name can forge a record.
  private static func quoted(_ value: String) -> String {
    var text = ""
    var isPlain = !value.isEmpty
    for scalar in value.unicodeScalars {
      switch scalar.properties.generalCategory {
      case .control, .format, .lineSeparator, .paragraphSeparator:
        text += "\\u{\(String(scalar.value, radix: 16))}"
        isPlain = false
      default:
        if scalar == "\"" || scalar == "\\" { text += "\\" }
        if scalar == " " || scalar == "\"" || scalar == "=" { isPlain = false }
        text.unicodeScalars.append(scalar)
      }
    }
    return isPlain ? text : "\"\(text)\""
  }
}
