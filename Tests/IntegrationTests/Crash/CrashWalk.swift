import HandoffProtocol
import LinuxSystem
import Paths
import Testing

/// One walk whose every boundary is tried: what is done, and what must be there at its end.
struct CrashWalk: Sendable, CustomTestStringConvertible {
  let name: String
  /// About how many points it has, for a sample of them.
  var usualPoints = 280
  /// The broker, or the receiver, which is stopped.
  var program = "handoff"
  /// Lines of the drop folder.
  var folder = ""
  /// Lines of the plugin's destination.
  var plugin = ""
  /// Lines of its settings.
  var settings = ""
  /// Lines of the script's destination.
  var exec = ""
  /// Whether each asset gets a rendition, with which the script is done.
  var hasRenditions = false
  /// The script of the `exec` receiver; `$1` is its log.
  var script = record
  /// How many attempts the script takes.
  var attempts: Int64 = 1
  var destinations = ["asked", "inbox", "script"]
  /// The numbers of the videos that are assets at the end; see ``Scene/video(_:)``.
  var videos: [UInt64] = [1]
  var keepsOriginal = true
  /// The first start counts too, on a folder without state.
  var isArmedAtOnce = false
  /// The ends that a handoff of `script` may have besides success.
  var ends: Set<String> = ["outcome_unknown"]
  /// Before the points are counted.
  var prepare: @Sendable (CrashTrial) async throws -> Void = { _ in }
  /// While they are counted; the broker may be gone at any moment of it.
  var act: @Sendable (CrashTrial) async throws -> Void = { try await $0.export(1) }
  /// After the next start: what an operator does who was interrupted.
  var resume: @Sendable (CrashTrial) async throws -> Void = { _ in }

  /// Appends the identifier of the asset: the receiver's own record of what it did.
  private static let record = """
    sed -n 's/.*"local_identifiers":\\["\\([^"]*\\)".*/\\1/p' >> "$1" && sync "$1"
    """

  static let importing = CrashWalk(name: "import")

  static let starting = CrashWalk(name: "first start", usualPoints: 700, isArmedAtOnce: true)

  static let removing = CrashWalk(
    name: "import that takes the original",
    folder: "original = \"remove\"",
    keepsOriginal: false
  )

  static let removingLater = CrashWalk(
    name: "original removed once handed off",
    folder: "original = \"remove\"\noriginal_when = \"handed_off\"",
    destinations: ["asked", "inbox"],
    keepsOriginal: false
  )

  static let superseding = CrashWalk(
    name: "re-export",
    videos: [1, 2],
    prepare: { trial in
      try await trial.export(1)
      try await trial.settle(videos: 1)
    },
    act: { try await $0.export(2) }
  )

  /// The script says "try again" the first time.
  static let retrying = CrashWalk(
    name: "retry",
    script: "mkdir \"$1.first\" 2> /dev/null && exit 75\n\(record)",
    attempts: 2
  )

  /// One handoff is at the receiver, which waits, and one is pending behind it; both are cancelled.
  static let cancelling = CrashWalk(
    name: "cancel",
    usualPoints: 120,
    script: "\(record)\nwhile [ ! -e \"$1.go\" ]; do sleep 0.02; done",
    destinations: ["script"],
    videos: [1, 2],
    ends: ["outcome_unknown", "cancelled"],
    prepare: { trial in
      try await trial.export(1)
      try await trial.await { $0.contains { $0["submitted_at"]?.text != nil } }
      try await trial.export(2, as: "second.mp4")
      try await trial.await { $0.count == 2 }
    },
    act: { try await $0.cancelAll() },
    resume: { trial in
      try await trial.cancelAll()
      try DurableFile.write([], to: trial.log("script").addingSuffix(".go"))
    }
  )

  /// The plugin is killed at each of its own boundaries.
  static let receiving = CrashWalk(
    name: "plugin",
    usualPoints: 45,
    program: "counting-receiver",
    plugin: """
      containment = "none"
      env = ["LD_PRELOAD", "SEAM_PROGRAM", "SEAM_PLAN", "SEAM_ARM", "SEAM_CALM", "SEAM_LOG"]
      """,
    destinations: ["asked"]
  )

  /// What the plugin derives is stored, and the script, which waits for it, is given it.
  static let deriving = CrashWalk(
    name: "renditions",
    usualPoints: 400,
    settings: "rendition = \"proxy\"",
    exec: "after = [\"asked\"]\nuse = \"proxy\"",
    hasRenditions: true,
    script: "sha256sum < \"$HANDOFF_ASSET_1\" | cut -c-64 >> \"$1\" && sync \"$1\"",
    destinations: ["asked", "script"]
  )

  static let all = [
    importing, starting, removing, removingLater, superseding, retrying, cancelling, receiving,
    deriving,
  ]

  var testDescription: String { name }

  func configuration(_ root: BytePath) -> String {
    let retry = "retry = { for = \"1h\", first = \"50ms\", max = \"200ms\" }"
    let texts = [
      "asked": """
      [destination.asked]
      transport = "plugin"
      command = ["counting-receiver"]
      write = ["out"]
      \(retry)
      \(plugin)
      [destination.asked.settings]
      log = "\(root)/out/asked.log"
      \(settings)
      """,
      "script": """
      [destination.script]
      transport = "exec"
      command = ["\(root)/script.sh", "\(root)/out/script.log"]
      write = ["out"]
      containment = "none"
      concurrency = 1
      \(exec)
      \(retry)
      """,
      "inbox": """
      [destination.inbox]
      transport = "file"
      inbox = "inbox"
      \(retry)
      """,
    ]
    return Scene.configuration(
      folder: folder,
      handoff: destinations,
      destinations: destinations.compactMap { texts[$0] }.joined(separator: "\n")
    )
  }
}
