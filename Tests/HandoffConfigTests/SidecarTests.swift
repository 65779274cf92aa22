import HandoffConfig
import HandoffCore
import HandoffProtocol
import Paths
import Testing

@Suite("Sidecar")
struct SidecarTests {
  private let folder: DropFolderSettings

  init() throws {
    var folder = DropFolderSettings(path: "/exports")
    folder.handoff = [try name("archive"), try name("preview")]
    folder.syncPublishTo = [try name("social"), try name("tube")]
    folder.callback = CallbackID("editor")
    self.folder = folder
  }

  private func sidecar(_ text: String) throws(ConfigurationError) -> Sidecar {
    let callbacks = ["editor", "other"].compactMap { CallbackID($0) }
    return try Sidecar.decode(
      bytes: Array(text.utf8),
      file: "/exports/clip.mp4.handoff.toml",
      folder: folder,
      callbacks: Set(callbacks)
    )
  }

  private func route(_ text: String?, wasThereBefore: Bool = false) throws -> FolderRoute {
    FolderRoute(
      export: "/exports/clip.final.mp4",
      folder: folder,
      sidecar: try text.map { try sidecar($0) },
      wasThereBefore: wasThereBefore
    )
  }

  private func shown(_ route: FolderRoute) -> [String] {
    route.choices.map { "\($0.destination)\($0.syncPublish ? "+" : "")" }
  }

  @Test("all its keys are decoded")
  func everything() throws {
    let sidecar = try sidecar(
      """
      title = "A title"
      description = "Words"
      tags = ["one", "two"]
      handoff = ["preview"]
      sync_publish = true
      callback_id = "other"
      publish_at = 2026-12-24T18:00:00+01:00
      [metadata]
      project = { id = 7 }
      """
    )
    #expect(sidecar.title == "A title")
    #expect(sidecar.handoff == [try name("preview")])
    #expect(sidecar.syncPublish == true)
    #expect(sidecar.callbackID?.text == "other")
    #expect(sidecar.publishAt?.timestamp { _ in 0 }.rfc3339 == "2026-12-24T17:00:00.000Z")
    #expect(
      sidecar.requestMetadata
        == .object([
          "description": .string("Words"), "tags": .array([.string("one"), .string("two")]),
          "project": .object(["id": .integer(7)]),
        ])
    )
  }

  @Test("a local publish_at is a moment in the zone of the host")
  func localTime() throws {
    let sidecar = try sidecar("publish_at = 2026-12-24T18:00:00")
    #expect(sidecar.publishAt?.timestamp { _ in 3600 }.rfc3339 == "2026-12-24T17:00:00.000Z")
  }

  @Test(
    "what it may not choose is refused",
    arguments: [
      ("handoff = ['vault']", "handoff[0]: vault is no destination of this folder"),
      ("handoff = ['social']", "handoff[0]: social needs sync_publish = true"),
      ("callback_id = 'nobody'", "callback_id: there is no callback nobody"),
      (
        "publish_at = 'soon'",
        "publish_at: a date and time is expected, as 2026-12-24T18:00:00+01:00"
      ),
      (
        "publish_at = 2026-12-24",
        "publish_at: a date and time is expected, as 2026-12-24T18:00:00+01:00"
      ),
      ("sync_publish = 'yes'", "sync_publish: true or false is expected, not a text"),
      ("command = ['rm']", "unknown key command; did you mean tags?"),
      ("tags = ['a']\n[metadata]\ntags = 1", "metadata: tags stands beside it and in it"),
      ("title = 3", "title: a text is expected, not an integer"),
    ]
  )
  func refused(text: String, sentence: String) {
    let error = #expect(throws: ConfigurationError.self) { try sidecar(text) }
    #expect(error?.problems.map(\.text) == [sentence])
  }

  @Test("all problems are told at once, with the file's path")
  func problems() {
    let error = #expect(throws: ConfigurationError.self) {
      try sidecar("titel = 'x'\nhandoff = ['vault']\n")
    }
    #expect(
      error?.description == """
        /exports/clip.mp4.handoff.toml:1:1: unknown key titel; did you mean title?
        /exports/clip.mp4.handoff.toml:2:12: handoff[0]: vault is no destination of this folder
        """
    )
  }

  @Test("what would not fit in a request is refused")
  func tooMuch() {
    let long = String(repeating: "x", count: Sidecar.maximumMetadata)
    #expect(throws: ConfigurationError.self) { try sidecar("description = '\(long)'") }
    #expect(throws: ConfigurationError.self) { try sidecar("title = '\(long)'") }
  }

  @Test("without a sidecar the folder decides")
  func noSidecar() throws {
    let plain = try route(nil)
    #expect(shown(plain) == ["archive", "preview"])
    #expect(plain.title == "clip.final")
    #expect(plain.callbackID?.text == "editor")
    #expect(plain.metadata == nil)
  }

  @Test(
    "the box adds the folder's publishing destinations",
    arguments: [
      ("", ["archive", "preview"]),
      ("sync_publish = false", ["archive", "preview"]),
      ("sync_publish = true", ["archive", "preview", "social+", "tube+"]),
      ("sync_publish = true\nhandoff = ['preview']", ["preview", "social+", "tube+"]),
      ("sync_publish = true\nhandoff = ['tube', 'archive']", ["archive", "tube+"]),
      ("handoff = []", []),
      ("handoff = []\nsync_publish = true", ["social+", "tube+"]),
    ]
  )
  func box(text: String, choices: [String]) throws {
    #expect(shown(try route(text)) == choices)
  }

  @Test("a folder's default for the box counts only without a sidecar")
  func publishByDefault() throws {
    var folder = folder
    folder.publishByDefault = true
    let without = FolderRoute(export: "a.mp4", folder: folder, sidecar: nil)
    #expect(shown(without) == ["archive", "preview", "social+", "tube+"])
    let with = FolderRoute(export: "a.mp4", folder: folder, sidecar: Sidecar())
    #expect(shown(with) == ["archive", "preview"])
  }

  @Test("what was there before the folder was first seen is never published")
  func existing() throws {
    #expect(
      shown(try route("sync_publish = true", wasThereBefore: true)) == ["archive", "preview"]
    )
  }

  @Test("a destination in both lists is handed off to once")
  func bothLists() throws {
    var folder = folder
    folder.syncPublishTo = [try name("archive")]
    var sidecar = Sidecar()
    sidecar.syncPublish = true
    let route = FolderRoute(export: "a.mp4", folder: folder, sidecar: sidecar)
    #expect(shown(route) == ["preview", "archive+"])
  }

  @Test("orders carry title, box, callback and metadata")
  func orders() throws {
    let digest = try #require(ContentDigest([UInt8](repeating: 7, count: 32)))
    let orders = try route("title = 'T'\nsync_publish = true\ndescription = 'D'")
      .orders(for: [LocalIdentifier(digest)])
    #expect(orders.map(\.syncPublish) == [false, false, true, true])
    #expect(
      orders.allSatisfy { $0.title == "T" && $0.isAutomatic && $0.callbackID?.text == "editor" }
    )
    #expect(orders[0].metadata == .object(["description": .string("D")]))
  }

  @Test("the default title is the stem, as text of a bounded length")
  func title() {
    let bytes = BytePath(Array("/exports/".utf8) + [0xFF] + Array(".mp4".utf8))
    #expect(FolderRoute(export: bytes, folder: folder, sidecar: nil).title == "\u{FFFD}")
    let long = BytePath([UInt8](repeating: 0xFF, count: 2000))
    let title = FolderRoute(export: long, folder: folder, sidecar: nil).title
    #expect(title.utf8.count <= Sidecar.maximumTitle && !title.isEmpty)
  }
}
