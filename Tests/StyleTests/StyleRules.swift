/// Rules that a formatter cannot check, each as a function from files to `FILE:LINE: sentence`.
enum StyleRules {
  static let longestFile = 400

  static func tooLong(_ files: [SourceFile]) -> [String] {
    files.filter { $0.lineCount > longestFile }.map { "\($0.path):1: \($0.lineCount) lines" }
  }

  /// Names that say what a thing is not: the word for it has not been found yet.
  static func emptyNames(_ files: [SourceFile]) -> [String] {
    let endings = ["Manager", "Helper", "Helpers", "Util", "Utils", "Impl"]
    let keywords: Set<Substring> = ["actor", "class", "enum", "protocol", "struct", "typealias"]
    func isEmpty(_ name: some StringProtocol) -> Bool { endings.contains { name.hasSuffix($0) } }
    return files.filter { file in endings.contains { (file.path + file.text).contains($0) } }
      .flatMap { file in
        (isEmpty(file.stem) ? ["\(file.path):1: named \(file.stem)"] : [])
          + file.codeLines.flatMap { number, code -> [String] in
            let words = code.split { !($0.isLetter || $0.isNumber || $0 == "_") }
            return zip(words, words.dropFirst()).filter { keywords.contains($0) && isEmpty($1) }
              .map { "\(file.path):\(number): named \($0.1)" }
          }
      }
  }

  /// What makes an error vanish or a program end.
  static func swallowed(_ files: [SourceFile]) -> [String] {
    found(["try?", "try!", "fatalError(", "as!"], in: files) { code, phrase, range in
      // `as!=` is no cast, and `retry?` no try.
      let before =
        range.lowerBound > code.startIndex ? code[code.index(before: range.lowerBound)] : " "
      return !(before.isLetter || before.isNumber || before == "_" || before == ".")
    }
  }

  /// Waiting for time instead of for what is awaited.
  static func sleeps(_ files: [SourceFile]) -> [String] {
    found(["sleep("], in: files) { _, _, _ in true }
  }

  /// Promises to the compiler that nothing in the file backs.
  static func unfoundedSafety(_ files: [SourceFile]) -> [String] {
    files.filter { !$0.text.contains("SAFETY:") }.flatMap { file in
      found(["@unchecked Sendable", "nonisolated(unsafe)"], in: [file]) { _, _, _ in true }
    }
  }

  private static func found(
    _ phrases: [String],
    in files: [SourceFile],
    where isMeant: (Substring, String, Range<Substring.Index>) -> Bool
  ) -> [String] {
    files.filter { file in phrases.contains { file.text.contains($0) } }.flatMap { file in
      file.codeLines.flatMap { number, code in
        phrases.filter { phrase in
          code.ranges(of: phrase).contains { isMeant(code, phrase, $0) }
        }.map { "\(file.path):\(number): \($0)" }
      }
    }
  }
}
