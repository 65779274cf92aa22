/// One structured record: a static sentence and what it is about.
package struct LogRecord: Hashable, Sendable {
  /// Levels by meaning, with syslog's numbers (syslog(3)).
  package enum Level: Int, Hashable, Sendable, Comparable {
    /// The service stops.
    case critical = 2
    /// An operator is needed.
    case error = 3
    /// Will be tried again, or is odd configuration.
    case warning = 4
    /// A state transition of an export, asset or handoff: exactly one record a transition.
    case notice = 5
    /// The life of the service.
    case info = 6
    /// For developers.
    case debug = 7

    package static func < (left: Level, right: Level) -> Bool { left.rawValue < right.rawValue }
  }

  package let level: Level
  /// A static sentence.
  package let message: String
  package var fields: [LogKey: String]
  /// What many records may come of, so that they are merged whatever they are about; see
  /// ``RepeatMerger``.
  package var cause: String?
  /// The cause that is over with this record: nothing is written where it was not told.
  package var ends: String?

  package init(_ level: Level, _ message: String, _ fields: [LogKey: String] = [:]) {
    self.level = level
    self.message = message
    self.fields = fields
  }
}

/// The names of what a record is about.
package enum LogKey: String, Hashable, Sendable, Comparable, CaseIterable {
  case assetID = "asset.id"
  case attempt
  case callback
  case check
  case count
  case destination
  case detail
  case error
  case errorCode = "error.code"
  case exportPath = "export.path"
  case folder
  case handoffID = "handoff.id"
  case noticeID = "notice.id"
  case path
  case pid
  case reason
  case sha256
  case size
  case status

  package static func < (left: LogKey, right: LogKey) -> Bool { left.rawValue < right.rawValue }
}
