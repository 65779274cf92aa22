import Glibc
package import Paths

/// The first line of a script, which names the program that the kernel starts instead; see execve(2).
package struct ScriptStart: Hashable, Sendable {
  /// The program as the line names it.
  package let interpreter: BytePath
  /// What is wrong with it; nil where it can be started.
  package let fault: String?

  /// Reads the start of an executable file.
  ///
  /// nil for one that is no script, or that only the kernel may read.
  package init?(of program: BytePath, searchPath: String) {
    guard let line = Self.firstLine(of: program) else { return nil }
    let words = line.split { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") }
      .map { BytePath(Array($0)) }
    interpreter = words.first ?? ""
    fault = Self.fault(line, words, searchPath)
  }

  private static func firstLine(of program: BytePath) -> [UInt8]? {
    do {
      let file = try FileDescriptor.open(program, O_RDONLY)
      let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: longest, alignment: 1)
      defer { buffer.deallocate() }
      let bytes = Array(buffer[..<(try file.read(into: buffer))])
      guard bytes.starts(with: Array("#!".utf8)) else { return nil }
      return Array(bytes.dropFirst(2).prefix { $0 != UInt8(ascii: "\n") })
    } catch {
      // Executable and not readable, or gone: the start itself tells of it.
      return nil
    }
  }

  private static func fault(
    _ line: [UInt8],
    _ words: [BytePath],
    _ searchPath: String
  ) -> String? {
    guard let interpreter = words.first else { return "its first line names no interpreter" }
    if line.last == UInt8(ascii: "\r") {
      return "its lines end as on Windows (CR LF), so that its interpreter is not found"
    }
    let shown = interpreter.displayText
    guard interpreter.isAbsolute else { return "its interpreter \(shown) is no absolute path" }
    guard access(interpreter.nulTerminated, X_OK) == 0 else {
      return "its interpreter \(shown) is not there or not executable"
    }
    // A second word is an option, or several words are one: env alone says what it would start.
    guard interpreter.lastComponent == "env", words.count == 2, let name = words.last,
      !name.bytes.contains(
        where: [UInt8(ascii: "-"), UInt8(ascii: "="), UInt8(ascii: "/")].contains
      ),
      CommandSearch.find(name.lossyText, on: searchPath) == nil
    else { return nil }
    return "its interpreter \(name.displayText) is not on the search path"
  }

  /// What the kernel reads of it.
  private static let longest = 256
}
