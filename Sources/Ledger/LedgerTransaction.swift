import HandoffCore
import HandoffLog
import HandoffProtocol
import SQLite

/// What the writer's thread knows: the connection, the chain's head, the next row, and whom to tell.
///
/// The queue's hooks keep it in step with what was undone and what was committed.
final class LedgerTransaction {
  let connection: Connection
  private var chain: EventChain
  let keys: LedgerKeys
  private var mint: TokenMint
  private let clock: @Sendable () -> Timestamp
  let bootClock: BootClock?
  /// After so many crashes with it in flight a handoff is given up; 0 for never.
  var crashLimit: Int
  private let headFile: HeadFile
  private let logger: Logger
  private let onCommit: @Sendable (Set<DestinationName>) -> Void
  private let onEndByOrder: @Sendable ([Handoff.ID]) -> Void
  let routing: NoticeRouting
  /// What destinations wait for.
  let handingOrder: OrderRules
  /// What this piece of work has done that others may wait for.
  var dependencies = Dependencies()

  /// What an undone piece of work gives back.
  private struct Counters {
    var head = ChainHead.start
    var lastHandoff: Int64 = 0
    var clockOffset: Int64?
    var rules: [String: DestinationRules] = [:]
    /// What was ended because of what it was ordered after.
    var endedByOrder: [Handoff.ID] = []
    var suspects: [Int64: Suspect] = [:]
  }
  private var counters = Counters()
  private var saved = Counters()
  private var writtenHead = ChainHead.start
  private var mustReload = true
  /// A broker's life was begun, so its end is to be written down.
  var isAlive = false
  private var touched: Set<String> = []
  private var rung: Set<CallbackID> = []
  /// How many new exports were claimed at each destination since back-fill had its last turn.
  var newClaims: [String: Int] = [:]

  init(
    _ connection: Connection,
    keys: LedgerKeys,
    headFile: HeadFile,
    logger: Logger,
    now: @escaping @Sendable () -> Timestamp,
    bootClock: BootClock?,
    crashLimit: Int,
    onCommit: @escaping @Sendable (Set<DestinationName>) -> Void,
    onEndByOrder: @escaping @Sendable ([Handoff.ID]) -> Void,
    routing: NoticeRouting,
    handingOrder: OrderRules
  ) throws {
    self.onEndByOrder = onEndByOrder
    self.handingOrder = handingOrder
    self.connection = connection
    self.keys = keys
    self.headFile = headFile
    self.logger = logger
    self.onCommit = onCommit
    self.routing = routing
    clock = now
    self.bootClock = bootClock
    self.crashLimit = crashLimit
    chain = try EventChain(keys)
    mint = try TokenMint(keys)
  }

  /// The present moment, in milliseconds.
  var now: Int64 { clock().milliseconds }

  /// A number that no event had before: fit to name a claim.
  var nextSequence: Int64 { counters.head.sequence + 1 }

  /// The wall clock's distance from the boot clock when it was last looked at; nil before the first look.
  var clockOffset: Int64? {
    get { counters.clockOffset }
    set { counters.clockOffset = newValue }
  }

  /// What is in force at destinations, by their names; see ``Ledger/setRules(_:)``.
  var rules: [String: DestinationRules] {
    get { counters.rules }
    set { counters.rules = newValue }
  }

  /// What was in flight when something crashed; almost always nothing.
  var suspects: [Int64: Suspect] {
    get { counters.suspects }
    set { counters.suspects = newValue }
  }

  /// To be called first by each piece of work.
  func prepare() throws {
    if mustReload { try reload() }
    dependencies = Dependencies()
    try followClock()
  }

  private func reload() throws {
    counters.clockOffset = nil
    counters.endedByOrder = []
    counters.head =
      try connection.first(Self.readHead) { row in
        ChainHead(sequence: try row.integer(0), code: try row.blob(1))
      } ?? .start
    counters.lastHandoff =
      try connection.first(Self.readLastHandoff) { row in try row.integer(0) } ?? 0
    counters.rules = try DestinationRules.read(connection)
    counters.suspects = try readSuspects()
    saved = counters
    mustReload = false
  }

  /// The destination's handoffs have changed: its dispatcher is told after the commit.
  func touch(_ destination: String) {
    touched.insert(destination)
  }

  /// A handoff was ended because of what it was ordered after: who looks after ends is told after the
  /// commit.
  func noteEndedByOrder(_ id: Handoff.ID) {
    counters.endedByOrder.append(id)
  }

  /// There is a notice for a callback id: who delivers is told after the commit.
  func ring(_ callback: CallbackID) {
    rung.insert(callback)
  }

  /// Chains and writes one event.
  func record(_ event: Event) throws {
    let head = try chain.head(after: counters.head, appending: event)
    try connection.run(
      Self.insertEvent,
      [
        .integer(head.sequence), .integer(event.at), .text(event.kind), .optional(event.handoff),
        .optional(event.asset), .optional(event.destination), .optional(event.from),
        .optional(event.to), .optional(event.attempt), .optional(event.detail), .blob(head.code),
      ]
    )
    counters.head = head
  }

  /// The row that the next handoff gets, and the digest of its token.
  func mintToken(random: [UInt8]) throws -> (row: Int64, digest: [UInt8]) {
    counters.lastHandoff += 1
    let text = try mint.text(row: counters.lastHandoff, random: random)
    return (counters.lastHandoff, try TokenMint.digest(of: text))
  }

  /// The digest of the token that a row gets which keeps its number from another ledger.
  func tokenDigest(row: Int64, random: [UInt8]) throws -> [UInt8] {
    try TokenMint.digest(of: mint.text(row: row, random: random))
  }

  private static let readHead = SQL("SELECT seq, mac FROM events ORDER BY seq DESC LIMIT 1")
  private static let readLastHandoff = SQL(
    "SELECT seq FROM sqlite_sequence WHERE name = 'handoffs'"
  )
  private static let insertEvent = SQL(
    """
    INSERT INTO events (seq, at, event, handoff, asset, destination, from_status, to_status,
      attempt, detail, mac) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)
    """
  )
}

extension LedgerTransaction {
  /// What the queue calls on its thread.
  static let hooks = TransactionQueue<LedgerTransaction>.Hooks(
    willRun: { $0.saved = $0.counters },
    didUndo: { $0.counters = $0.saved },
    didCommit: { $0.publish() },
    didFail: { transaction in
      transaction.mustReload = true
      transaction.touched = []
      transaction.rung = []
    }
  )

  private func publish() {
    if counters.head != writtenHead {
      logger.logged("the ledger's head file was not written") {
        try headFile.write(counters.head)
        writtenHead = counters.head
      }
    }
    // Also where it is about none of them: who keeps the log counts commits.
    let destinations = Set(touched.compactMap { DestinationName($0) })
    touched = []
    onCommit(destinations)
    if !counters.endedByOrder.isEmpty {
      onEndByOrder(counters.endedByOrder)
      counters.endedByOrder = []
      saved.endedByOrder = []
    }
    if !rung.isEmpty {
      defer { rung = [] }
      routing.onCommit(rung)
    }
  }
}
