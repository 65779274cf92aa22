import HandoffProtocol
import Paths

/// Compares what the broker has with what the writers did.
struct TortureVerdict {
  /// One fault, and the path that `handoff why` is asked about.
  struct Fault {
    let sentence: String
    let path: String
  }

  private(set) var faults: [Fault] = []
  private(set) var assets = 0
  /// Halves in formats without an end mark that were taken: nothing tells them from whole files.
  private(set) var unprovableTaken = 0

  private let truth: TruthLog
  private let keeping: BytePath

  /// - Parameters:
  ///   - truth: what the writers say.
  ///   - assets: what `handoff assets` says.
  ///   - keeping: the folder whose files stay, so that each of them must have been seen.
  init(_ truth: TruthLog, assets: JSONValue, keeping: BytePath) {
    self.truth = truth
    self.keeping = keeping
    self.assets = assets.elements.count
    let unprovable = Set(truth.unprovable.map(\.digest))
    let readyAt = truth.readyAt
    var digests: Set<String> = []
    var sightings: Set<TruthLog.Version> = []
    for asset in assets.elements {
      let digest = asset["sha256"]?.text ?? ""
      let paths = (asset["sources"]?.elements ?? []).map { $0["path"]?.text ?? "" }
      if !digests.insert(digest).inserted { add("two assets of one content", paths.first) }
      if readyAt[digest] == nil {
        if unprovable.contains(digest) {
          unprovableTaken += 1
        } else {
          add("imported, but never whole", paths.first)
        }
      }
      for path in paths where !sightings.insert(.init(path: path, digest: digest)).inserted {
        add("two sightings of one version", path)
      }
      checkTimes(of: asset, digest, readyAt)
    }
    for version in truth.required {
      let mustBeSeen = BytePath(version.path).isInside(keeping)
      if mustBeSeen ? !sightings.contains(version) : !digests.contains(version.digest) {
        let scenario = truth.ready[version]?.scenario ?? ""
        add("lost (\(scenario), \(version.digest.prefix(12)))", version.path)
      }
    }
  }

  /// Everything that must be imported is.
  static func isComplete(_ truth: TruthLog, _ assets: JSONValue, keeping: BytePath) -> Bool {
    !TortureVerdict(truth, assets: assets, keeping: keeping).faults
      .contains { $0.sentence.hasPrefix("lost") }
  }

  private mutating func checkTimes(
    of asset: JSONValue,
    _ digest: String,
    _ readyAt: [String: Int64]
  ) {
    for source in asset["sources"]?.elements ?? [] {
      let path = source["path"]?.text ?? ""
      let seen = source["seen_at"]?.text.flatMap(Timestamp.init(rfc3339:))?.milliseconds ?? 0
      let version = TruthLog.Version(path: path, digest: digest)
      guard let ready = truth.ready[version] else {
        if readyAt[digest] != nil { add("imported from where it never was whole", path) }
        continue
      }
      // What ffmpeg has written is known only after its end; its digest alone decides.
      if seen < ready.at, ready.scenario != "realTime" { add("imported too early", path) }
    }
  }

  /// One automatic handoff of each asset at each destination, and none delivered twice.
  mutating func check(
    handoffs: JSONValue,
    destinations: [String],
    delivered: [String: [Substring]]
  ) {
    var pairs: [String: Int] = [:]
    for handoff in handoffs.elements {
      let destination = handoff["destination"]?.text ?? ""
      for identifier in handoff["local_identifiers"]?.elements ?? [] {
        pairs["\(destination) \(identifier.text ?? "")", default: 0] += 1
      }
    }
    for (pair, count) in pairs where count > 1 { add("\(count) handoffs: \(pair)", nil) }
    if pairs.count != assets * destinations.count {
      add("\(pairs.count) handoffs of \(assets) assets at \(destinations.count) destinations", nil)
    }
    for (destination, lines) in delivered {
      for (line, count) in Dictionary(lines.map { ($0, 1) }, uniquingKeysWith: +) where count > 1 {
        add("delivered \(count) times to \(destination): \(line)", nil)
      }
    }
  }

  mutating func add(_ sentence: String, _ path: String?) {
    faults.append(Fault(sentence: sentence, path: path ?? ""))
  }
}
