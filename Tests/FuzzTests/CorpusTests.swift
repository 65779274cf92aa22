import FoundationEssentials
import FuzzTargets
import Testing

/// Every kept input, through the very functions that libFuzzer calls: `make fuzz` looks for more.
@Suite("Fuzzing corpus", .timeLimit(.minutes(3)))
struct CorpusTests {
  @Test("every kept input holds what must hold", arguments: FuzzTarget.all.map(\.name))
  func replay(name: String) throws {
    let target = try #require(FuzzTarget.named(name))
    let inputs = try Corpus.inputs(of: name)
    #expect(!inputs.isEmpty, "no corpus for \(name)")
    for (file, bytes) in inputs {
      let time = ContinuousClock().measure {
        #expect(throws: Never.self, "\(name)/\(file)") { try target.check(bytes) }
      }
      #expect(time < .seconds(2), "\(name)/\(file)")
    }
  }

  @Test("a small input cut off, without a byte or with one changed holds it too")
  func mutations() throws {
    for target in FuzzTarget.all {
      for (file, bytes) in try Corpus.inputs(of: target.name) where bytes.count < 300 {
        for position in stride(from: 0, to: bytes.count, by: 4) {
          var without = bytes
          without.remove(at: position)
          var changed = bytes
          changed[position] ^= 0x20
          for mutation in [Array(bytes[..<position]), without, changed] {
            #expect(throws: Never.self, "\(target.name)/\(file) at \(position)") {
              try target.check(mutation)
            }
          }
        }
      }
    }
  }

  @Test("every folder of the corpus belongs to a target, and all of it is small")
  func folders() throws {
    let folders = try FileManager.default.contentsOfDirectory(atPath: Corpus.root.path)
    #expect(Set(folders) == Set(FuzzTarget.all.map(\.name)))
    let size = try folders.flatMap { try Corpus.inputs(of: $0) }.map(\.1.count).reduce(0, +)
    #expect(size < 300_000)
  }
}

/// The files of Tests/Fuzz/Corpus.
private enum Corpus {
  static let root = URL(filePath: #filePath).resolvingSymlinksInPath()
    .deletingLastPathComponent().deletingLastPathComponent().appending(path: "Fuzz/Corpus")

  static func inputs(of target: String) throws -> [(String, [UInt8])] {
    let folder = root.appending(path: target)
    return try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted().map { name in
      (name, Array(try Data(contentsOf: folder.appending(path: name))))
    }
  }
}
