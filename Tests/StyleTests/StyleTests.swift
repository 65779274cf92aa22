import Testing

@Suite("Style")
struct StyleTests {
  private static let swift: Set<String> = ["swift"]
  private static let all: Set<String> = ["c", "cpp", "h", "hpp", "swift"]

  @Test("no file is longer than 400 lines")
  func length() throws {
    let files = try Project.files(in: ["Plugins", "Sources", "Tests"], extensions: Self.all)
    #expect(files.count > 100)
    #expect(StyleRules.tooLong(files) == [])
  }

  @Test("names say what things are")
  func names() throws {
    let files = try Project.files(in: ["Plugins", "Sources", "Tests"], extensions: Self.swift)
    #expect(StyleRules.emptyNames(files) == [])
  }

  @Test("no error vanishes, and nothing ends the program, in what is shipped")
  func swallowed() throws {
    let files = try Project.files(in: ["Plugins", "Sources"], extensions: Self.swift)
    #expect(StyleRules.swallowed(files) == [])
  }

  @Test("tests wait for what happens, not for time")
  func sleeps() throws {
    let files = try Project.files(in: ["Tests"], extensions: Self.swift).filter { file in
      // Programs that tests start may hang on purpose.
      !file.path.hasPrefix("Tests/Fixtures/")
    }
    #expect(StyleRules.sleeps(files) == [])
  }

  @Test("a promise to the compiler names what keeps it")
  func safety() throws {
    let files = try Project.files(in: ["Plugins", "Sources", "Tests"], extensions: Self.swift)
    #expect(StyleRules.unfoundedSafety(files) == [])
  }

  @Test("no file names the place where it was written")
  func places() throws {
    let place = "/wo" + "rk/"
    let files = try Project.files(
      in: ["Plugins", "Sources", "Tests", "config"],
      extensions: Self.all.union(["md", "modulemap", "toml", "json"])
    )
    let named = files.filter { file in
      // As a part of a longer path it is a folder of the state.
      file.text.ranges(of: place).contains { range in
        range.lowerBound == file.text.startIndex
          || !(file.text[file.text.index(before: range.lowerBound)].isLetter)
      }
    }
    #expect(named.map(\.path) == [])
  }

  @Test("the rules find what they forbid")
  func rules() {
    let text = """
      struct ThingManager {}
      let value = try? call()
      let other = try! call()
      fatalError("no")
      try await Task.sleep(for: .seconds(1))
      final class Box: @unchecked Sendable {}
      let cast = value as! Int
      """
    let file = [SourceFile(path: "Sources/A/StringUtils.swift", text: text)]
    #expect(
      StyleRules.emptyNames(file) == [
        "Sources/A/StringUtils.swift:1: named StringUtils",
        "Sources/A/StringUtils.swift:1: named ThingManager",
      ]
    )
    #expect(StyleRules.swallowed(file).count == 4)
    #expect(StyleRules.sleeps(file) == ["Sources/A/StringUtils.swift:5: sleep("])
    #expect(StyleRules.unfoundedSafety(file).count == 1)
    let long = SourceFile(path: "a.swift", text: String(repeating: "\n", count: 401))
    #expect(StyleRules.tooLong([long]) == ["a.swift:1: 401 lines"])
  }

  @Test("the rules leave alone what they do not forbid")
  func noFindings() {
    let text = """
      // try? try! fatalError( sleep( ThingManager
      let text = "try? fatalError( struct AManager sleep("
      let entry = retry?.first
      let isEqual = alias != other
      struct ManagerList {}
      // SAFETY: written once, before the second thread starts.
      nonisolated(unsafe) var started = false
      """
    let file = [SourceFile(path: "Sources/A/A.swift", text: text)]
    #expect(StyleRules.emptyNames(file) == [])
    #expect(StyleRules.swallowed(file) == [])
    #expect(StyleRules.sleeps(file) == [])
    #expect(StyleRules.unfoundedSafety(file) == [])
  }

  @Test("Case 84: what makes tokens takes randomness from the kernel alone")
  func tokenRandomness() throws {
    let files = try Project.files(in: ["Sources/Digests", "Sources/Ledger"], extensions: ["swift"])
    let others = ["RandomNumberGenerator", ".random(", "drand48", "srand", "getpid", "shuffled("]
    for file in files {
      for (number, code) in file.codeLines {
        for phrase in others where code.contains(phrase) {
          Issue.record("\(file.path):\(number): \(phrase)")
        }
      }
    }
    #expect(files.contains { $0.text.contains("RandomBytes.make(count: TokenMint.randomCount)") })
  }
}
