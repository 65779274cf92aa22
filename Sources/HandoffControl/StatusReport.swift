package import HandoffProtocol
package import Paths

/// The broker at a glance, as `handoff status --json` shows it.
package struct StatusReport: Codable, Sendable {
  /// One drop folder.
  package struct Folder: Codable, Sendable {
    package var path: String
    /// `events`, `poll` or `offline`.
    package var mode: String
    package var watches: Int
    package var candidates: Int
    /// What does not work as it should, in one sentence.
    @OrNull package var degraded: String?
    /// How often everything was listed anew because something may have been missed.
    package var rescans: Int
    /// Why that was the last time.
    @OrNull package var rescanReason: String?

    package init(
      path: String,
      mode: String,
      watches: Int,
      candidates: Int,
      degraded: String?,
      rescans: Int,
      rescanReason: String?
    ) {
      self.path = path
      self.mode = mode
      self.watches = watches
      self.candidates = candidates
      self.degraded = degraded
      self.rescans = rescans
      self.rescanReason = rescanReason
    }

    private enum CodingKeys: String, CodingKey {
      case path
      case mode
      case watches
      case candidates
      case degraded
      case rescans
      case rescanReason = "rescan_reason"
    }

    /// What a person is told beside the numbers; empty if there is nothing.
    package var note: String {
      let rescan = rescanReason.map { "rescanned \(rescans)×, last because \($0)" }
      return [degraded, rescan].compactMap(\.self).joined(separator: "; ")
    }
  }

  /// One destination.
  package struct Destination: Codable, Sendable {
    package var name: DestinationName
    /// `up`, `down`, `paused` or `circuit_open`.
    package var status: String
    /// `bubblewrap`, or `none` with the reason.
    package var containment: String
    package var inFlight: Int
    package var waiting: Int
    @OrNull package var detail: String?

    package init(
      name: DestinationName,
      status: String,
      containment: String,
      inFlight: Int,
      waiting: Int,
      detail: String?
    ) {
      self.name = name
      self.status = status
      self.containment = containment
      self.inFlight = inFlight
      self.waiting = waiting
      self.detail = detail
    }

    private enum CodingKeys: String, CodingKey {
      case name
      case status
      case containment
      case inFlight = "in_flight"
      case waiting
      case detail
    }
  }

  /// The HTTP API.
  package struct API: Codable, Sendable {
    /// `HOST:PORT`; null while it is not served.
    @OrNull package var address: String?
    /// Why it is not served; null where it is, or is not asked for.
    @OrNull package var error: String?

    package init(address: String? = nil, error: String? = nil) {
      self.address = address
      self.error = error
    }
  }

  package var version: String
  package var pid: Int32
  package var folders: [Folder]
  /// The files that are neither imported nor gone: settling, held, ignored, refused.
  package var candidates: [WhyReport]
  /// More files come after this path; null where the list is complete.
  @OrNull package var candidatesNext: BytePath?
  package var destinations: [Destination]
  /// Whether receivers can be contained on this machine: `bubblewrap`, or `none` and why; null from a
  /// broker that is older than the question.
  @OrNull package var containment: String?
  package var counts: [String: Int]
  /// Handoffs that wait for a person, and notices that were given up.
  package var needsPerson: [NeedsPerson]
  /// The oldest notices that wait for their next try.
  package var notices: [NoticeReport]
  /// Originals that stay, since a handoff of theirs did not succeed or they could not be touched.
  package var originals: [OriginalReport] = []
  /// The oldest orders that are held since a rebuild of the ledger.
  package var heldOrders: [HeldOrderReport] = []
  /// Null from a broker that is older than the question.
  @OrNull package var library: LibraryReport?
  /// Null from a broker that is older than the question.
  @OrNull package var api: API?
  /// Null from a broker that is older than the question.
  @OrNull package var config: Config?
  @OrNull package var ledger: LedgerReport?

  package init(
    version: String,
    pid: Int32,
    folders: [Folder],
    candidates: [WhyReport],
    destinations: [Destination],
    counts: [String: Int],
    needsPerson: [NeedsPerson],
    notices: [NoticeReport]
  ) {
    self.version = version
    self.pid = pid
    self.folders = folders
    self.candidates = candidates
    self.candidatesNext = nil
    self.destinations = destinations
    self.counts = counts
    self.needsPerson = needsPerson
    self.notices = notices
    self.containment = nil
    self.library = nil
    self.api = nil
    self.config = nil
    self.ledger = nil
  }

  private enum CodingKeys: String, CodingKey {
    case version
    case pid
    case folders
    case candidates
    case candidatesNext = "candidates_next"
    case destinations
    case containment
    case counts
    case needsPerson = "needs_person"
    case originals
    case heldOrders = "held_orders"
    case notices
    case library
    case api
    case config
    case ledger
  }
}
