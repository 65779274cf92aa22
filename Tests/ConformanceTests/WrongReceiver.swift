import Conformance
import HandoffTestSupport
import Testing

/// A receiver that is wrong in one way: the page's receiver in Python with a few words changed.
///
/// So each is wrong in nothing else, and the page's text is the only copy.
struct WrongReceiver: Sendable, CustomTestStringConvertible {
  let name: String
  /// The check that must fail.
  let check: CheckName
  /// Words of what its author is told to mend.
  let words: String
  /// Each text and what stands in its place.
  let changes: [(String, String)]
  /// What is done meanwhile, for a check that looks at everything.
  var seenIn = CheckName.submit

  init(_ name: String, _ check: CheckName, _ words: String, _ changes: (String, String)...) {
    self.name = name
    self.check = check
    self.words = words
    self.changes = changes
  }

  var testDescription: String { name }

  /// The same, wrong in the handoffs of another check.
  func seen(in check: CheckName) -> WrongReceiver {
    var receiver = self
    receiver.seenIn = check
    return receiver
  }

  /// The checks to make.
  var only: Set<CheckName> {
    let standing: Set<CheckName> = [.startsAgain, .wellFormed, .resultOnce, .secrecy]
    return standing.contains(check) ? [check, seenIn] : [check]
  }

  /// The program.
  func program() throws -> String {
    // Nothing here loses its power, and to sync the whole machine takes long.
    let right = try DocumentedReceivers.python.replacing("os.sync(), ", with: "")
    return try changes.reduce(right) { text, change in
      guard text.contains(change.0) else {
        throw TestSupportError("\(name): the page's receiver has no \(change.0)")
      }
      return text.replacing(change.0, with: change.1, maxReplacements: 1)
    }
  }
}
