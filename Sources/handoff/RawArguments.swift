import Paths

/// The arguments as the kernel passed them: bytes, since a file name need not be UTF-8.
struct RawArguments {
  let all: [BytePath]

  static var ofThisProcess: RawArguments {
    var all: [BytePath] = []
    for index in 0..<Int(CommandLine.argc) {
      guard let argument = CommandLine.unsafeArgv[index] else { break }
      all.append(BytePath(cString: argument))
    }
    return RawArguments(all: all)
  }

  var command: String? { all.dropFirst().first?.lossyText }

  /// What follows the command.
  var rest: [BytePath] { Array(all.dropFirst(2)) }
}
