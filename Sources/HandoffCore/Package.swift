package import HandoffProtocol
package import Paths

/// A directory that arrived in a drop folder whose directories are requests, as the tracker has it.
struct Package: Sendable {
  /// What becomes of the whole.
  enum Stage: Sendable {
    /// Its members are proven finished and imported.
    case gathering
    /// The ledger is being told.
    case recording(Set<LocalIdentifier>)
    /// These have their requests; with what there is to say of them.
    case recorded(Set<LocalIdentifier>, String)
    /// For its sidecar, or for the ledger.
    case held(CandidateState, String)
    /// There is no request for these.
    case refused(String, Set<LocalIdentifier>)
  }

  let folder: Int
  var stage = Stage.gathering
  /// Members that are not proven finished.
  private(set) var unready: Set<BytePath> = []
  /// Members that are proven finished and not imported.
  private(set) var ready: Set<BytePath> = []
  private(set) var imported: [BytePath: LocalIdentifier] = [:]
  /// Members that a rename was seen to bring: what lies in a directory that is moved keeps its times.
  private(set) var renamed: Set<BytePath> = []
  /// The last event of a member, on the tracker's clock.
  private(set) var lastChange: Duration = .zero

  init(folder: Int) {
    self.folder = folder
  }

  var isEmpty: Bool { unready.isEmpty && ready.isEmpty && imported.isEmpty }
  /// Every member is imported.
  var isWhole: Bool { unready.isEmpty && ready.isEmpty && !imported.isEmpty }

  /// Takes in the state of a file below the directory.
  mutating func note(
    _ path: BytePath,
    _ state: CandidateState,
    _ identifier: LocalIdentifier?,
    lastEvent: Duration?,
    cameByRename: Bool
  ) {
    unready.remove(path)
    ready.remove(path)
    imported.removeValue(forKey: path)
    if let lastEvent { lastChange = max(lastChange, lastEvent) }
    switch state {
    case .imported: imported[path] = identifier
    case .waitingPackage, .importing:
      ready.insert(path)
      if cameByRename { renamed.insert(path) } else { renamed.remove(path) }
    case .ignored, .unknown: break
    case .waitingQuiet, .openForWriting, .incomplete, .waitingProof, .waitingSidecar, .noSpace,
      .unreadable, .refused, .offline:
      unready.insert(path)
    }
  }

  /// Something of it has changed.
  mutating func touch(at time: Duration) {
    lastChange = max(lastChange, time)
  }

  mutating func forget(_ path: BytePath) {
    imported.removeValue(forKey: path)
    renamed.remove(path)
  }
}

/// A directory of which every export is imported: what becomes one request for each destination.
package struct PackageArrival: Sendable {
  package struct Member: Hashable, Sendable {
    /// Absolute.
    package let path: BytePath
    package let localIdentifier: LocalIdentifier
    /// A rename was seen to bring it: it was not there before.
    package let cameByRename: Bool
  }

  /// Absolute; the directory.
  package let path: BytePath
  package let folder: Int
  /// By the bytes of their paths.
  package let members: [Member]
  /// How long nothing in it has changed.
  package let quiet: Duration

  /// The members' identifiers in their order, each once: two members may have the same content.
  package var localIdentifiers: [LocalIdentifier] {
    var seen: Set<LocalIdentifier> = []
    return members.map(\.localIdentifier).filter { seen.insert($0).inserted }
  }
}

/// How recording a package ended.
package enum PackageOutcome: Hashable, Sendable {
  /// Each destination has its request, or had one for every member.
  case recorded
  /// The same, but not every member is in a request to every destination; in a sentence.
  case recordedApart(String)
  /// There can be no request; the members stay imported.
  case refused(String)
  /// Something else has to come first: tried again when that changes, and after the given time.
  case held(reason: String, state: CandidateState, upTo: Duration?)
}
