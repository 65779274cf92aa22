import Glibc
import LinuxSystem
package import Paths

/// The receivers of the documentation, read from its page.
package enum DocumentedReceivers {
  private static let package = BytePath(#filePath).parent.parent.parent

  /// The Python receiver's text.
  package static var python: String { get throws { try block("python") } }
  /// The Swift receiver's text.
  package static var swift: String { get throws { try block("swift") } }
  /// The text of the program that is built of the Swift receiver.
  package static var swiftFixture: String {
    get throws { try text(package.appending("Tests/Fixtures/ShelfReceiver/Shelf.swift")) }
  }

  /// Writes a program into a folder so that it can be run, and returns its path.
  package static func write(_ program: String, in folder: BytePath) throws -> BytePath {
    let path = folder.appending("receiver")
    try DurableFile.write(Array(program.utf8), to: path, permissions: 0o755)
    return path
  }

  /// Every block of code in a language, of a page of the documentation.
  package static func blocks(_ language: String, of page: String) throws -> [String] {
    let path = "Sources/HandoffService/HandoffService.docc/\(page).md"
    var rest = Substring(try text(package.appending(BytePath(path))))
    var blocks: [String] = []
    while let start = rest.firstRange(of: "```\(language)\n")?.upperBound,
      let end = rest[start...].firstRange(of: "\n```")?.lowerBound
    {
      blocks.append(rest[start..<end] + "\n")
      rest = rest[end...]
    }
    return blocks
  }

  /// The first block of code in a language.
  private static func block(_ language: String) throws -> String {
    guard let block = try blocks(language, of: "Receivers").first else {
      throw TestSupportError("the page has no block of \(language)")
    }
    return block
  }

  private static func text(_ path: BytePath) throws -> String {
    let bytes = try FileDescriptor.open(path, O_RDONLY).readAll(limit: 1 << 20)
    return String(decoding: bytes, as: UTF8.self)
  }
}
