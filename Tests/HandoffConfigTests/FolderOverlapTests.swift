import HandoffConfig
import HandoffCore
import Paths
import Testing

@Suite("Folders that must lie apart")
struct FolderOverlapTests {
  private static let cases: [(String, String)] = [
    (
      "[library]\npath = 'exports/lib'",
      "library.path: the library (/etc/handoff/exports/lib) is inside the drop folder "
        + "(/etc/handoff/exports)"
    ),
    (
      "[broker]\nstate = 'exports'",
      "broker.state: the state folder (/etc/handoff/exports) is inside the drop folder "
        + "(/etc/handoff/exports)"
    ),
    (
      "[library]\npath = '/etc/handoff'",
      "drop_folder[0].path: the drop folder (/etc/handoff/exports) is inside the library "
        + "(/etc/handoff)"
    ),
    (
      "[destination.x]\ntransport = 'exec'\ncommand = ['x']\nwrite = ['exports/preview']",
      "destination.x.write[0]: the output of x (/etc/handoff/exports/preview) is inside the drop "
        + "folder (/etc/handoff/exports)"
    ),
    (
      "[destination.x]\ntransport = 'file'\ninbox = 'exports'",
      "destination.x.inbox: the inbox of x (/etc/handoff/exports) is inside the drop folder "
        + "(/etc/handoff/exports)"
    ),
    (
      "[destination.x]\ntransport = 'exec'\ncommand = ['x']\nwrite = ['library/x']",
      "destination.x.write[0]: the output of x (/etc/handoff/library/x) is inside the library "
        + "(/etc/handoff/library)"
    ),
    (
      "[destination.x]\ntransport = 'exec'\ncommand = ['x']\nread = ['state']",
      "destination.x.read[0]: what x reads (/etc/handoff/state) is inside the state folder "
        + "(/etc/handoff/state)"
    ),
    (
      "[destination.x]\ntransport = 'plugin'\ncommand = ['x']\nsettings.folder = './exports/a'",
      "destination.x.settings: a folder in the settings of x (/etc/handoff/exports/a) is inside the "
        + "drop folder (/etc/handoff/exports)"
    ),
    (
      "[callback.x]\nfile = 'exports/told.jsonl'",
      "callback.x.file: the file of callback x (/etc/handoff/exports/told.jsonl) is inside the drop "
        + "folder (/etc/handoff/exports)"
    ),
    (
      "[[drop_folder]]\npath = './exports/'",
      "drop_folder[1].path: /etc/handoff/exports is a drop folder already"
    ),
    (
      "[[drop_folder]]\npath = 'b'\noriginal = 'move'\nmove_to = 'exports/done'",
      "drop_folder[1].move_to: the folder of originals (/etc/handoff/exports/done) is inside the "
        + "drop folder (/etc/handoff/exports)"
    ),
    (
      "[[drop_folder]]\npath = 'b'\noriginal = 'move'\nmove_to = 'library/done'",
      "drop_folder[1].move_to: the folder of originals (/etc/handoff/library/done) is inside the "
        + "library (/etc/handoff/library)"
    ),
    (
      "[[drop_folder]]\npath = 'b'\noriginal = 'move'\nmove_to = 'state'",
      "drop_folder[1].move_to: the folder of originals (/etc/handoff/state) is inside the state "
        + "folder (/etc/handoff/state)"
    ),
  ]

  @Test("an overlap is told with both resolved paths", arguments: cases)
  func overlaps(text: String, sentence: String) {
    let folder = "[[drop_folder]]\npath = 'exports'\n"
    let found = problems(text.hasPrefix("[[") ? folder + text : "\(text)\n\(folder)")
    #expect(found.map { String($0.split(separator: " ", maxSplits: 1)[1]) } == [sentence])
  }

  @Test("symbolic links are seen through")
  func symbolicLinks() {
    let found = problems("[library]\npath = '/link/library'\n[[drop_folder]]\npath = '/srv'\n") {
      path in
      path.relative(to: "/link").map { BytePath("/srv/in").appending($0) } ?? path
    }
    #expect(
      found == [
        "handoff.toml:2:8: library.path: the library (/srv/in/library) is inside the drop folder "
          + "(/srv)"
      ]
    )
  }

  @Test("nested drop folders, and folders of like names, may be")
  func allowed() {
    let text = """
      [library]
      path = "exports-library"
      [[drop_folder]]
      path = "exports"
      [[drop_folder]]
      path = "exports/nested"
      original = "move"
      move_to = "exports2"
      """
    #expect(problems(text).isEmpty)
  }
}
