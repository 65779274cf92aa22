import HandoffProtocol
import Paths

/// How the folder's `proof` stands for one candidate.
enum ProofStanding: Sendable {
  /// Nothing is asked for.
  case notAsked
  /// It is there.
  case given(String)
  /// It is compared while the file is imported.
  case claimed(ContentChecksum)
  /// It cannot be had for this file, but equal looks so far apart stand in for it.
  case replaced(String, by: Duration)
  case missing(String)

  /// A format that declares no end counts as finished without a longer quiet.
  var isEnough: Bool {
    switch self {
    case .given, .claimed: true
    case .notAsked, .replaced, .missing: false
    }
  }
}

extension Candidate {
  /// How a file came by its name, as far as it was noticed.
  enum Origin: Sendable {
    /// A listing found it under the name.
    case listed
    /// It was created or closed by a writer under the name.
    case written
    /// A rename gave it the name, and it was not written to since.
    case renamed
    /// A rename gave it the name, and somebody who had it open for writing has closed it since.
    case renamedAndClosed

    mutating func take(closed: Bool) {
      switch self {
      case .renamed where closed: self = .renamedAndClosed
      case .renamedAndClosed where closed: return
      case .listed, .written, .renamed, .renamedAndClosed: self = .written
      }
    }
  }

  func standing(
    _ finding: ProofFinding,
    _ identity: FileIdentity,
    isProvable: Bool,
    _ rules: SettleTracker.Rules
  ) -> ProofStanding {
    switch rules.proof {
    case .auto: .notAsked
    case .rename: renameStanding(identity, isProvable: isProvable, rules)
    case .marker, .checksum: besideStanding(finding, identity)
    }
  }

  private func besideStanding(_ finding: ProofFinding, _ identity: FileIdentity) -> ProofStanding {
    switch finding {
    case .notAsked: .missing("its proof was not looked for")
    case .present(let text): .given(text)
    case .missing(let text): .missing(text)
    case .claimed(let checksum):
      if let failed = disproof, failed.checksum == checksum,
        failed.identity.hasSameContent(as: identity)
      {
        .missing(failed.reason)
      } else {
        .claimed(checksum)
      }
    }
  }

  /// A file that a listing found gives no proof of how it came by its name: for one whose container
  /// shows its end, equal looks stand in; one that may be half of what it should be is held.
  private func renameStanding(
    _ identity: FileIdentity,
    isProvable: Bool,
    _ rules: SettleTracker.Rules
  ) -> ProofStanding {
    switch origin {
    case .renamed:
      .given("a rename gave it its name")
    case .renamedAndClosed where identity.modified < identity.changed:
      .given("a rename gave it its name, and nothing was written to it since")
    case .renamedAndClosed:
      .missing("it was written to after it was renamed: a rename is waited for")
    case .written:
      .missing("it was written under this name: a rename to it is waited for")
    case .listed where isProvable:
      .replaced(
        "it was found by a listing, which shows no rename: two equal looks stand in",
        by: rules.quietPoll
      )
    case .listed:
      .missing(
        "it was found by a listing, which shows no rename, and its format declares no end: rename it "
          + "again, or import it by hand"
      )
    }
  }

  /// The line of evidence about it; nil where nothing is asked for.
  func evidence(of standing: ProofStanding) -> Evidence? {
    switch standing {
    case .notAsked: nil
    case .given(let text): Evidence(.proof, passed: true, text)
    case .claimed(let checksum):
      .pending(.proof, "compared while it is imported: \(checksum)", since: lastEventTime)
    case .replaced(let text, _), .missing(let text): Evidence(.proof, passed: false, text)
    }
  }
}

/// A digest that an export's bytes do not have: not read again until one of the two changes.
final class Disproof: Sendable {
  let identity: FileIdentity
  let checksum: ContentChecksum
  let reason: String

  init(_ identity: FileIdentity, _ checksum: ContentChecksum, _ reason: String) {
    self.identity = identity
    self.checksum = checksum
    self.reason = reason
  }
}
