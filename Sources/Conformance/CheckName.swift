/// The checks of the kit, in the order in which they are made, each with what is expected.
package enum CheckName: String, Sendable, CaseIterable {
  case starts
  case startsAgain = "starts-again"
  case discoverShape = "discover-shape"
  case versions
  case constraints
  case settings
  case wellFormed = "well-formed"
  case unknownMessage = "unknown-message"
  case unknownMembers = "unknown-members"
  case status
  case statusChecks = "status-checks"
  case badJSON = "bad-json"
  case deepNesting = "deep-nesting"
  case longLine = "long-line"
  case malformedRequest = "malformed-request"
  case foreignVersion = "foreign-version"
  case mustUnderstand = "must-understand"
  case preflight
  case submit
  case resolve
  case result
  case state
  case resultVersion = "result-version"
  case resultOnce = "result-once"
  case repeatedSubmit = "repeated-submit"
  case eachVersion = "each-version"
  case severalAssets = "several-assets"
  case several
  case assetDeleted = "asset-deleted"
  case accessLimited = "access-limited"
  case probeUnknown = "probe-unknown"
  case probeFinished = "probe-finished"
  case cancel
  case killedAtWork = "killed-at-work"
  case killedAfterResult = "killed-after-result"
  case replay
  case grantedFile = "granted-file"
  case verify
  case verifyMissing = "verify-missing"
  case secrecy
  case shutdown
  case hangUp = "hang-up"
  case terminate
  case leftovers

  /// Those that look at everything that the plugin does, in all the others' handoffs.
  static let standing: [CheckName] = [.startsAgain, .wellFormed, .resultOnce, .secrecy]

  /// Those for which a handoff is made.
  static let handoffs: Set<CheckName> = [
    .result, .eachVersion, .severalAssets, .several, .assetDeleted, .accessLimited, .cancel,
    .killedAtWork, .killedAfterResult, .replay,
  ]

  /// What a right plugin does.
  package var expectation: String {
    switch self {
    case .starts: "starts, and answers `discover` in time"
    case .startsAgain: "starts for every check anew, and answers `discover` with its settings"
    case .discoverShape: "its answer to `discover` has the protocol's shape"
    case .versions: "`protocol_versions` names versions that exist, each once"
    case .constraints: "its constraints are well formed and can be met"
    case .settings: "settings that it cannot work with are refused as `not_configured`"
    case .wellFormed:
      "every line of it is a message of the protocol, and every call is answered once"
    case .unknownMessage: "a message that it does not know is answered \"unsupported\" (-32601)"
    case .unknownMembers: "members that it does not know are ignored"
    case .status: "`status` is answered"
    case .statusChecks: "`status` with checks says what it looked at, and does nothing"
    case .badJSON: "a line that is not JSON does not end it"
    case .deepNesting: "a deeply nested line does not end it"
    case .longLine: "a line of one mebibyte is read"
    case .malformedRequest: "a request that breaks the protocol is refused, with effect none"
    case .foreignVersion: "a version that it does not name is refused as `version_incompatible`"
    case .mustUnderstand: "a foreign name in `must_understand` is refused"
    case .preflight: "`preflight` is answered, and nothing is done"
    case .submit: "`submit` is answered in time"
    case .resolve: "each asset is resolved with `asset.resolve` and the request's token"
    case .result: "the result comes, and has the protocol's shape"
    case .state: "the result carries the state token as it was given"
    case .resultVersion: "the result is in the version of its request"
    case .resultOnce: "there is one result"
    case .repeatedSubmit: "the same request once more is not done twice"
    case .eachVersion: "a request in each version that it names is done"
    case .severalAssets: "each asset of a request with two is resolved"
    case .several: "several handoffs at once each get their own result"
    case .assetDeleted: "an asset that was deleted makes a failure with effect none"
    case .accessLimited: "an asset that it may not read makes a failure with effect none"
    case .probeUnknown: "a handoff that it never had is `not_received` (or `unknown`)"
    case .probeFinished: "a handoff that it has ended is `finished`, with its result"
    case .cancel: "a handoff that is cancelled before it has its asset ends without being done"
    case .killedAtWork: "killed at work, it neither claims a success nor loses the handoff"
    case .killedAfterResult: "killed after its result, it does not do the handoff again"
    case .replay: "a request that it has ended is answered with the same result after a restart"
    case .grantedFile: "what it is granted is left as it is"
    case .verify: "what it has done is there when it looks again, and nothing is changed by that"
    case .verifyMissing: "what it never had is not intact"
    case .secrecy: "no state token is in its log, its files, its output or its messages"
    case .shutdown: "`shutdown` ends it in time"
    case .hangUp: "the end of the socket ends it in time"
    case .terminate: "SIGTERM ends it in time"
    case .leftovers: "no process is left of it"
    }
  }
}
