import Glibc
import Paths

/// One option of a command.
struct Option {
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
struct ParsedArguments {
  private var values: [String: [BytePath]] = [:]
  private(set) var operands: [BytePath] = []

  func has(_ option: String) -> Bool { values[option] != nil }

  /// The last value of an option, as a path.
  func path(_ option: String) -> BytePath? { values[option]?.last }

  /// The last value of an option, as text.
  func text(_ option: String) -> String? { values[option]?.last?.lossyText }

  /// All values of an option, in order.
  func texts(_ option: String) -> [String] { values[option]?.map(\.lossyText) ?? [] }

  /// Parses with getopt_long(3), so that options and operands may be mixed and `--` ends the options.
  init(_ arguments: [BytePath], options: [Option], command: String) throws {
    let bytes = [BytePath(command)] + arguments
    var argv: [UnsafeMutablePointer<CChar>?] = bytes.map { strdup($0.nulTerminated) }
    argv.append(nil)
    let names = options.map { strdup($0.name) }
    defer {
      for pointer in argv { free(pointer) }
      for pointer in names { free(pointer) }
    }
    var table = options.indices.map { index in
      Glibc.option(
        name: UnsafePointer(names[index]),
        has_arg: options[index].value == nil ? 0 : 1,
        flag: nil,
        val: Int32(index + 256)
      )
    }
    table.append(Glibc.option(name: nil, has_arg: 0, flag: nil, val: 0))
    optind = 1
    opterr = 0
    while true {
      let found = getopt_long(Int32(bytes.count), &argv, ":h", table, nil)
      if found == -1 { break }
      if found == Int32(UInt8(ascii: "h")) {
        values["help", default: []].append("")
        continue
      }
      guard found >= 256 else {
        let culprit = bytes.indices.contains(Int(optind) - 1) ? argv[Int(optind) - 1] : nil
        let text = culprit.map { String(cString: $0) } ?? ""
        let problem = found == Int32(UInt8(ascii: ":")) ? "needs a value" : "is not an option"
        throw CommandFailure(.usage, "handoff \(command): \(text) \(problem); see --help")
      }
      let value = optarg.map { pointer in
        BytePath(UnsafeBufferPointer(start: pointer, count: strlen(pointer)).map(UInt8.init(bitPattern:)))
      }
      values[options[Int(found) - 256].name, default: []].append(value ?? "")
    }
    for index in Int(optind)..<bytes.count {
      guard let pointer = argv[index] else { break }
      operands.append(
        BytePath(UnsafeBufferPointer(start: pointer, count: strlen(pointer)).map(UInt8.init(bitPattern:)))
      )
    }
  }
}
