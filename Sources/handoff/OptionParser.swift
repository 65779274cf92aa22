import COptions
import Glibc
import Paths

/// One option of a command.
struct Option: Sendable {
  let name: String
  /// What stands for its value in help; nil for a switch.
  let value: String?
  let help: String

  init(_ name: String, _ value: String? = nil, _ help: String) {
    self.name = name
    self.value = value
    self.help = help
  }
}

/// What a command was called with.
struct ParsedArguments: Sendable {
  private var values: [String: [BytePath]] = [:]
  private(set) var operands: [BytePath] = []

  func has(_ option: String) -> Bool { values[option] != nil }

  /// The last value of an option, as a path.
  func path(_ option: String) -> BytePath? { values[option]?.last }

  /// The last value of an option, as text.
  func text(_ option: String) -> String? { values[option]?.last?.lossyText }

  /// All values of an option, in order.
  func texts(_ option: String) -> [String] { values[option]?.map(\.lossyText) ?? [] }

  /// Parses with getopt_long(3), so that options and operands may be mixed, names may be cut short, and
  /// `--` ends the options.
  ///
  /// - Throws: ``CommandFailure`` naming the word that is no option or lacks its value.
  init(_ arguments: [BytePath], options: [Option], command: String) throws {
    let words = [BytePath(command)] + arguments
    var argv = words.map { strdup($0.nulTerminated) }
    var table = options.map {
      coptions_option(name: strdup($0.name), takes_value: $0.value == nil ? 0 : 1)
    }
    defer {
      for word in argv { free(word) }
      for option in table { free(UnsafeMutablePointer(mutating: option.name)) }
    }
    var found = [coptions_found](repeating: coptions_found(), count: words.count)
    var lacksValue: CInt = 0
    let (count, size) = (CInt(words.count), CInt(options.count))
    let filled = Int(coptions_parse(count, &argv, &table, size, &found, &lacksValue))
    guard filled >= 0 else {
      let word = argv[-1 - filled].map { BytePath(cString: $0).displayText } ?? ""
      let problem = lacksValue != 0 ? "needs a value" : "is not an option"
      throw CommandFailure(.usage, "handoff \(command): \(word) \(problem); see --help")
    }
    for entry in found[..<filled] {
      let text = entry.text.map { BytePath(cString: $0) } ?? ""
      if entry.index < 0 {
        operands.append(text)
      } else {
        values[options[Int(entry.index)].name, default: []].append(text)
      }
    }
  }
}

extension BytePath {
  /// The bytes of a C string, whatever their encoding.
  init(cString: UnsafePointer<CChar>) {
    self.init(
      UnsafeBufferPointer(start: cString, count: strlen(cString)).map(UInt8.init(bitPattern:))
    )
  }
}
