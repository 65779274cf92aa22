import HandoffConfig
import HandoffCore
import Paths
import Testing

@Suite("Problems of a configuration")
struct ConfigurationProblemTests {
  @Test("an unknown key and a wrong type are both told, with places and the nearest key")
  func twoProblems() {
    #expect(
      problems("[broker]\nstat=\"x\"\n[[drop_folder]]\npath=3\n") == [
        "handoff.toml:2:1: unknown key broker.stat; did you mean state?",
        "handoff.toml:4:6: drop_folder[0].path: a text is expected, not an integer",
      ]
    )
  }

  @Test("a syntax error is one problem with its place")
  func syntaxError() {
    let found = problems("[broker]\nstate = \n[[drop_folder]]\npath = 3\n")
    #expect(found.count == 1)
    #expect(found.first?.hasPrefix("handoff.toml:2:") == true)
    // The end of the line is shown as one escape, not as an escaped one.
    #expect(problems("[broker\n").first?.hasSuffix("saw '\\n'") == true)
  }

  @Test("a file name with a newline stays on one line")
  func fileName() {
    let error = #expect(throws: ConfigurationError.self) {
      try Configuration.decode(
        bytes: Array("x = 1".utf8),
        file: "a\nb.toml",
        directory: "/",
        resolve: { $0 }
      )
    }
    #expect(error?.description == "a\\x0ab.toml:1:1: unknown key x; did you mean broker?")
  }

  @Test("a file that is too long is refused unread")
  func tooLong() {
    let text = String(repeating: "#", count: Configuration.maximumSize + 1)
    #expect(problems(text) == ["handoff.toml:1:1: 1048577 bytes, more than 1048576"])
  }

  private static let oneLiners: [(String, String)] = [
    ("brokr = 1", "unknown key brokr; did you mean broker?"),
    ("broker = 1", "broker: a table is expected, not an integer"),
    (
      "drop_folder = 1",
      "drop_folder: a list of tables is expected, [[drop_folder]], not an integer"
    ),
    ("[drop_folder]", "drop_folder: a list of tables is expected, [[drop_folder]], not a table"),
    ("drop_folder = [1]", "drop_folder[0]: a table is expected, not an integer"),
    ("[[drop_folder]]", "drop_folder[0].path: missing: which folder is watched?"),
    ("destination = 1", "destination: a table is expected, not an integer"),
    ("destination.x = 1", "destination.x: a table is expected, not an integer"),
    (
      "[destination.\"a b\"]\ntransport='exec'\ncommand=['x']",
      "\"a b\" is no name: 1 to 64 of a-z, A-Z, 0-9, _ and -, not beginning with -"
    ),
    ("[broker]\nstate = ''", "broker.state: an empty path"),
    (
      "[broker]\nstate = '~/state'",
      "broker.state: ~ is not replaced; write the folder's whole path"
    ),
    ("[broker]\nstate = \"a\\u0000b\"", "broker.state: a text may not hold U+0000"),
    (
      "[broker]\nlisten = '7717'",
      "broker.listen: \"7717\" is not HOST:PORT, as 127.0.0.1:7717 or [::1]:7717"
    ),
    (
      "[broker]\nlisten = '::1:7717'",
      "broker.listen: \"::1:7717\" is not HOST:PORT, as 127.0.0.1:7717 or [::1]:7717"
    ),
    ("[broker]\npublic_url = 'host'", "broker.public_url: no URL: it has no scheme"),
    ("[broker]\npublic_url = 'ftp://h'", "broker.public_url: no https or http URL"),
    (
      "[broker]\npublic_url = 'https://u:p@h'",
      "broker.public_url: a URL here holds no user name or password"
    ),
    (
      "[broker]\npublic_url = 'https://h/?a=b'",
      "broker.public_url: a URL here has no query (?)"
    ),
    (
      "[broker]\nallowed_hosts = ['h.example', '[::1]', 'https://h']",
      "broker.allowed_hosts: \"https://h\" is no host name alone"
    ),
    (
      "[broker]\nallowed_hosts = ['h h']",
      "broker.allowed_hosts: \"h h\" is no host name alone"
    ),
    (
      "[destination.a]\ntransport = 'http'\nurl = 'https://h/#x'\nsecret = { env = 'A' }",
      "destination.a.url: a URL here has no fragment (#)"
    ),
    (
      "[broker]\nallowed_hosts = 'x'",
      "broker.allowed_hosts: a list of texts is expected, not a text"
    ),
    (
      "[broker]\nallowed_hosts = [1]", "broker.allowed_hosts[0]: a text is expected, not an integer"
    ),
    ("[broker]\nalert = 'ops'", "broker.alert: there is no [callback.ops]"),
    ("[library]\nreserve = 5", "library.reserve: a text is expected, not an integer"),
    (
      "[library]\nreserve = '5'",
      "library.reserve: \"5\" is neither a share, as \"5%\", nor a size, as \"10GB\""
    ),
    (
      "[library]\nretention = 'never'",
      "library.retention: \"never\" is no duration: a whole number with ms, s, m, h or d"
    ),
    ("[library]\nverify_every = 1", "library.verify_every: a text is expected, not an integer"),
  ]

  @Test("one mistake is one sentence", arguments: oneLiners)
  func mistakes(text: String, sentence: String) {
    #expect(problems(text).map(withoutPlace) == [sentence])
  }

  private static let folderLines: [(String, String)] = [
    ("quietSecconds = 30", "unknown key drop_folder[0].quietSecconds; did you mean quiet?"),
    ("Quiet = '1s'", "unknown key drop_folder[0].Quiet; did you mean quiet?"),
    (
      "quiet = 5",
      "drop_folder[0].quiet: a duration is a text with a unit, as \"10s\", not an integer"
    ),
    (
      "quiet = '5'",
      "drop_folder[0].quiet: \"5\" is no duration: a whole number with ms, s, m, h or d"
    ),
    (
      "quiet = '-1s'",
      "drop_folder[0].quiet: \"-1s\" is no duration: a whole number with ms, s, m, h or d"
    ),
    ("quiet = '2d'", "drop_folder[0].quiet: \"2d\" is out of range; it may be 0s to 1d"),
    ("recursive = 'yes'", "drop_folder[0].recursive: true or false is expected, not a text"),
    ("existing = 'skip'", "drop_folder[0].existing: \"skip\" is none of import, ignore"),
    ("ignore = ['']", "drop_folder[0].ignore[0]: an empty text"),
    ("original = 'move'", "drop_folder[0].move_to: missing: where do originals go?"),
    ("move_to = 'x'", "drop_folder[0].move_to: only with original = \"move\""),
    (
      "handoff = ['archiv']",
      "drop_folder[0].handoff: there is no [destination.archiv]; did you mean archive?"
    ),
    ("handoff = ['a b']", "drop_folder[0].handoff[0]: \"a b\" is no name of a destination"),
    (
      "handoff = ['archive', 'archive']",
      "drop_folder[0].handoff[1]: \"archive\" stands in the list twice"
    ),
    (
      "publish_by_default = true",
      "drop_folder[0].publish_by_default: true, but sync_publish_to names no destination"
    ),
    ("callback = 'x'", "drop_folder[0].callback: there is no [callback.x]"),
  ]

  @Test("one mistake in a drop folder is one sentence", arguments: folderLines)
  func folderMistakes(line: String, sentence: String) {
    let text = """
      [destination.archive]
      transport = "exec"
      command = ["true"]
      [[drop_folder]]
      path = "exports"
      \(line)
      """
    #expect(problems(text).map(withoutPlace) == [sentence])
    #expect(
      problems(text).first?.hasPrefix("handoff.toml:\(line.contains("move'") ? 4 : 6):") == true
    )
  }

  private static let destinationLines: [(String, String)] = [
    ("idle = '0s'", "destination.x.idle: \"0s\" is out of range; it may be 100ms to 36525d"),
    ("ceiling = '1m'", "destination.x.ceiling: ceiling is 1m, idle is 10m: it may not be shorter"),
    ("retry = '1h'", "destination.x.retry: a table is expected, not a text"),
    (
      "retry = { fr = '1h' }",
      "unknown key destination.x.retry.fr; did you mean for?"
    ),
    ("retry = { max = '1s' }", "destination.x.retry.max: max may not be shorter than first"),
    ("concurrency = 0", "destination.x.concurrency: 0 is out of range; it may be 1 to 1000"),
    ("concurrency = 2.0", "destination.x.concurrency: an integer is expected, not a number"),
    (
      "quota = '5'",
      "destination.x.quota: \"5\" is no quota: a number and a duration, as \"5/24h\""
    ),
    ("after = ['y']", "destination.x.after: there is no [destination.y]; did you mean x?"),
    ("after = ['x']", "destination.x.after: it waits for itself"),
    (
      "use = ''",
      "destination.x.use: \"\" is neither original nor a rendition's name: 1 to 32 of a-z, 0-9, _ and -, "
        + "beginning with a letter"
    ),
    (
      "use = '../proxy'",
      "destination.x.use: \"../proxy\" is neither original nor a rendition's name: 1 to 32 of a-z, 0-9, "
        + "_ and -, beginning with a letter"
    ),
    (
      "folders = ['other']",
      "destination.x.folders: /etc/handoff/other is no drop folder of this configuration"
    ),
    ("containment = 'yes'", "destination.x.containment: \"yes\" is none of require, prefer, none"),
    (
      "env = ['TOKEN=abc']",
      "destination.x.env: \"TOKEN=abc\" is no name of an environment variable"
    ),
    (
      "protocol_versions = []",
      "destination.x.protocol_versions: a list of versions is expected, as [1, 2, 3]"
    ),
    ("protocol_versions = [4]", "destination.x.protocol_versions: each version is 1 to 3"),
    ("url = 'https://h'", "destination.x.url: means nothing with transport plugin"),
    ("idempotent = true", "destination.x.idempotent: means nothing with transport plugin"),
    ("old_secret = { env = 'A' }", "destination.x.old_secret: means nothing with transport plugin"),
    (
      "constraints.max_duration = 7200",
      "destination.x.constraints.max_duration: a duration is a text with a unit, as \"10s\", "
        + "not an integer"
    ),
    (
      "constraints.max_size = '2'",
      "destination.x.constraints.max_size: \"2\" is no size: a whole number with B, kB, MB, GB, TB, "
        + "KiB and so on"
    ),
    (
      "constraints.max_length = 1",
      "unknown key destination.x.constraints.max_length; did you mean max_height?"
    ),
    (
      "constraints = { min_duration = '2s', max_duration = '1s' }",
      "destination.x.constraints.min_duration: longer than max_duration: nothing would be taken"
    ),
    ("settings.x = nan", "destination.x.settings.x: JSON has no nan"),
  ]

  @Test("one mistake in a destination is one sentence", arguments: destinationLines)
  func destinationMistakes(line: String, sentence: String) {
    let text = "[destination.x]\ntransport = \"plugin\"\ncommand = [\"x\"]\n\(line)\n"
    #expect(problems(text).map(withoutPlace) == [sentence])
    #expect(problems(text).first?.hasPrefix("handoff.toml:4:") == true)
  }

  @Test("a folder that hands off to who waits, and not to whom that waits for, is told where")
  func routes() {
    let text = """
      [[drop_folder]]
      path = "exports"
      handoff = ["social"]
      [[drop_folder]]
      path = "boxed"
      handoff = ["archive"]
      sync_publish_to = ["social"]
      [[drop_folder]]
      path = "apart"
      handoff = ["social"]
      sync_publish_to = ["archive"]
      [destination.archive]
      transport = "exec"
      command = ["x"]
      [destination.social]
      transport = "exec"
      command = ["x"]
      after = ["archive"]
      """
    let told =
      "social waits for archive (after), to which this folder hands nothing off; name archive too"
    #expect(
      problems(text) == [
        "handoff.toml:3:12: drop_folder[0].handoff: \(told)",
        "handoff.toml:10:12: drop_folder[2].handoff: \(told)",
      ]
    )
  }

  @Test("destinations that wait for each other are told")
  func circle() {
    let text = """
      [destination.a]
      transport = "exec"
      command = ["x"]
      after = ["b"]
      [destination.b]
      transport = "exec"
      command = ["x"]
      after = ["a"]
      """
    #expect(
      problems(text).map(withoutPlace) == [
        "destination.a.after: it waits for itself, through b",
        "destination.b.after: it waits for itself, through a",
      ]
    )
  }

  @Test("each transport wants its own keys")
  func transports() {
    let text = """
      [destination.a]
      [destination.b]
      transport = "exec"
      [destination.c]
      transport = "http"
      [destination.d]
      transport = "url"
      url = "javascript:alert(1)"
      [destination.e]
      transport = "file"
      network = true
      [destination.f]
      transport = "exec"
      command = []
      """
    #expect(
      problems(text).map(withoutPlace) == [
        "destination.a.transport: missing: plugin, exec, http, url or file",
        "destination.a.command: missing: which program serves it?",
        "destination.b.command: missing: which program serves it?",
        "destination.c.url: missing: where do requests go?",
        "destination.c.secret: missing: what signs the requests?",
        "destination.d.url: a javascript URL is not allowed",
        "destination.e.inbox: missing: which folder takes the copies?",
        "destination.e.network: means nothing with transport file",
        "destination.f.command: a program is expected, and its arguments",
      ]
    )
  }

  @Test("a url destination has a scheme of its own, and its tokens expire soon")
  func schemes() {
    func found(_ url: String, _ more: String = "") -> [String] {
      problems("[destination.a]\ntransport = 'url'\nurl = '\(url)'\n\(more)").map(withoutPlace)
    }
    #expect(found("editor://handoff", "ceiling = '24h'").isEmpty)
    let form = "destination.a.url: only SCHEME://handoff, to which the request is added"
    for url in ["editor://result", "editor://handoff?a=b", "editor://handoff#", "editor:handoff"] {
      #expect(found(url) == [form])
    }
    #expect(found("https://handoff").first?.contains("a https URL is not allowed") == true)
    let longest = "destination.a.ceiling: at most 1d with transport url, whose tokens expire soon"
    #expect(found("editor://handoff", "ceiling = '25h'") == [longest])
  }

  @Test("a callback has exactly one way, and a secret is only referred to")
  func callbacks() {
    let text = """
      [callback.a]
      [callback.b]
      exec = ["x"]
      url = "https://h"
      [callback.c]
      url = "https://h/"
      secret = "hunter2"
      [callback.d]
      url = "https://h/"
      secret = { env = "A", file = "b" }
      [callback.e]
      exec = ["x"]
      secret = { env = "1A" }
      [callback.f]
      url = "https://h/"
      [callback.g]
      open = "mailto:x"
      secret = { envv = "A" }
      [callback.h]
      exec = ["x"]
      command = ["y"]
      [callback.i]
      open = "e://x"
      old_secret = { env = "A" }
      """
    let found = problems(text)
    #expect(
      found.map(withoutPlace) == [
        "callback.a: exactly one of exec, url, open and file is expected, not none",
        "callback.b: exactly one of exec, url, open and file is expected, not exec and url",
        "callback.c.secret: a secret is never written here; say { env = \"NAME\" } "
          + "or { file = \"…\" }",
        "callback.d.secret: exactly one of env, file and credential is expected",
        "callback.e.secret.env: no such name",
        "callback.f.secret: missing: what signs the notices?",
        "callback.g.secret: exactly one of env, file and credential is expected",
        "unknown key callback.g.secret.envv; did you mean env?",
        "callback.h.command: means nothing with a callback of this kind",
        "callback.i.old_secret: means nothing with a callback of this kind",
      ]
    )
    #expect(!found.joined().contains("hunter2"))
  }

  private func withoutPlace(_ problem: String) -> String {
    String(problem.split(separator: " ", maxSplits: 1)[1])
  }
}
