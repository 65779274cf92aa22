package import Paths

/// How a drop folder is watched.
package enum FolderMode: String, Hashable, Sendable, Codable {
  case events
  case poll
  /// Its root is away.
  case offline
}

/// Where a drop folder stands, as the watch thread sees it.
struct FolderStatus: Hashable, Sendable {
  /// Why something below the root is not covered by events.
  enum Gap: Int, Hashable, Comparable, Sendable {
    /// No watch is left for it.
    case limit
    /// It is on a network file system that is mounted there.
    case network
    /// It could not be watched or listed.
    case failed
    /// What was mounted there is away.
    case unmounted

    static func < (left: Gap, right: Gap) -> Bool { left.rawValue < right.rawValue }
  }

  /// How many places have a gap, and what is said of the first.
  struct Places: Hashable, Sendable {
    var count = 0
    let detail: String
  }

  var mode: FolderMode
  var watches = 0
  /// What is wrong with the whole folder, or why it is polled, in one sentence.
  var problem: String?
  private(set) var gaps: [Gap: Places] = [:]
  /// Mount points below the root whose file system is away: what was in it is offline, not gone.
  var away: Set<BytePath> = []
  /// How long the last listing of the whole folder took.
  var listingTime: Duration = .zero
  /// It would be watched by events if an inotify instance could be had.
  var lacksInstance = false

  init(mode: FolderMode, problem: String? = nil) {
    self.mode = mode
    self.problem = problem
  }

  /// Directories and files that no event tells of.
  var uncovered: Int { gaps.values.reduce(0) { $0 + $1.count } }

  /// Listings have to find what comes into the folder, or into places in it.
  var needsPolling: Bool {
    switch mode {
    case .poll: true
    case .events: uncovered > 0
    case .offline: false
    }
  }

  mutating func note(_ gap: Gap, _ detail: @autoclosure () -> String) {
    gaps[gap, default: Places(detail: detail())].count += 1
  }

  /// The kinds of what is wrong, without counts that change with every listing.
  var troubles: Set<String> {
    Set(gaps.keys.map { "\($0)" } + [problem].compactMap(\.self))
  }

  /// All that is wrong, in one line; nil if nothing is.
  var degraded: String? {
    let parts = gaps.sorted { $0.key < $1.key }.map { Self.sentence($0.key, $0.value) }
    let all = [problem].compactMap(\.self) + parts
    return all.isEmpty ? nil : all.joined(separator: "; ")
  }

  private static func sentence(_ gap: Gap, _ places: Places) -> String {
    let directories = places.count == 1 ? "1 directory is" : "\(places.count) directories are"
    switch gap {
    case .limit, .network:
      return "\(directories) not covered by events and polled: \(places.detail)"
    case .failed:
      let what = places.count == 1 ? "1 place" : "\(places.count) places"
      return "\(what) could not be covered, tried again with each poll, the first: \(places.detail)"
    case .unmounted:
      return "\(directories) offline: \(places.detail)"
    }
  }
}

/// Where a drop folder stands: its line in `handoff status`.
package struct FolderReport: Hashable, Sendable {
  package var path: BytePath
  package var mode: FolderMode
  /// Directories with a watch.
  package var watches: Int
  /// Files that are not imported, ignored or refused yet.
  package var candidates: Int
  /// What is wrong, in one sentence; nil if nothing is.
  package var degraded: String?
  /// How often everything was listed anew because something may have been missed.
  package var rescans: Int
  /// Why that was the last time; nil if it never was.
  package var rescanReason: String?
  /// How long the last listing of the whole folder took.
  package var listingTime: Duration

  package init(
    path: BytePath,
    mode: FolderMode,
    watches: Int,
    candidates: Int,
    degraded: String?,
    rescans: Int = 0,
    rescanReason: String? = nil,
    listingTime: Duration = .zero
  ) {
    self.path = path
    self.mode = mode
    self.watches = watches
    self.candidates = candidates
    self.degraded = degraded
    self.rescans = rescans
    self.rescanReason = rescanReason
    self.listingTime = listingTime
  }
}
