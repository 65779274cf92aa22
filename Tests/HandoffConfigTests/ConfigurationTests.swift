import HandoffConfig
import HandoffCore
import HandoffProtocol
import Paths
import Testing

@Suite("Configuration")
struct ConfigurationTests {
  @Test("an empty file is a configuration with every default")
  func empty() throws {
    let configuration = try decode("")
    #expect(configuration.broker == BrokerSettings(state: "/etc/handoff/state"))
    #expect(configuration.library == LibrarySettings(path: "/etc/handoff/library"))
    #expect(configuration.dropFolders.isEmpty)
    #expect(configuration.destinations.isEmpty)
    #expect(configuration.callbacks.isEmpty)
  }

  @Test("broker and library are decoded")
  func brokerAndLibrary() throws {
    let configuration = try decode(
      """
      [broker]
      state = "/var/lib/handoff/./state//"
      listen = "[::1]:0"
      token_file = "token"
      public_url = "https://host.example/handoff"
      allowed_hosts = ["host.example"]
      group = "video"
      alert = "ops"
      [library]
      path = "../library"
      reserve = "10GB"
      retention = "90d"
      verify_every = ""
      [callback.ops]
      exec = ["./notify", "{title}"]
      """
    )
    let broker = configuration.broker
    #expect(broker.state == "/var/lib/handoff/state")
    #expect(broker.listen == .init(host: "::1", port: 0))
    #expect(broker.listen?.description == "[::1]:0")
    #expect(broker.tokenFile == "/etc/handoff/token")
    #expect(broker.publicURL == "https://host.example/handoff")
    #expect(broker.allowedHosts == ["host.example"])
    #expect(broker.group == "video")
    #expect(broker.alert?.text == "ops")
    #expect(configuration.library.path == "/etc/handoff/../library")
    #expect(configuration.library.reserve == .bytes(10_000_000_000))
    #expect(configuration.library.retention == .seconds(90 * 86_400))
    #expect(configuration.library.verifyEvery == nil)
    let callback = try #require(configuration.callbacks.values.first)
    #expect(callback.action == .exec(["/etc/handoff/notify", "{title}"]))
  }

  @Test("an empty listen address is none")
  func noListening() throws {
    #expect(try decode("[broker]\nlisten = ''").broker.listen == nil)
  }

  @Test("drop folders are decoded in the file's order")
  func dropFolders() throws {
    let configuration = try decode(
      """
      [[drop_folder]]
      path = "in"
      quiet = "0s"
      give_up = "20s"
      existing = "ignore"
      proof = "checksum"
      watch = "poll"
      ignore = ["*.draft.*"]
      prefer = ["mp4", "matroska"]
      package = true
      original = "move"
      original_when = "handed_off"
      move_to = "done"
      handoff = ["archive"]
      sync_publish_to = ["hook"]
      publish_by_default = true
      on_supersede = "replace"
      callback = "editor"
      [[drop_folder]]
      path = "in/nested"
      [destination.archive]
      transport = "exec"
      command = ["true"]
      [destination.hook]
      transport = "file"
      inbox = "inbox"
      [callback.editor]
      file = "results.jsonl"
      """
    )
    let folder = configuration.dropFolders[0]
    #expect(folder.path == "/etc/handoff/in")
    #expect(folder.quiet == .zero)
    #expect(folder.giveUp == .seconds(20))
    #expect(folder.existing == .ignore)
    #expect(folder.proof == .checksum)
    #expect(folder.watch == .poll)
    #expect(folder.ignore == ["*.draft.*"])
    #expect(folder.prefer == ["mp4", "matroska"])
    #expect(folder.package)
    #expect(folder.original == .move)
    #expect(folder.originalWaitsForHandoffs)
    #expect(folder.moveTo == "/etc/handoff/done")
    #expect(folder.handoff == [try name("archive")])
    #expect(folder.syncPublishTo == [try name("hook")])
    #expect(folder.publishByDefault)
    #expect(folder.onSupersede == .replace)
    #expect(folder.callback?.text == "editor")
    #expect(configuration.dropFolders[1] == DropFolderSettings(path: "/etc/handoff/in/nested"))
  }

  @Test("destinations are decoded")
  func destinations() throws {
    let configuration = try decode(
      """
      [[drop_folder]]
      path = "exports"
      [destination.first]
      transport = "exec"
      command = ["bin/run", "--fast"]
      [destination.second]
      transport = "plugin"
      command = ["handoff-archive"]
      idle = "60s"
      ceiling = "2h"
      retry = { for = "1h", first = "1s", max = "1m" }
      concurrency = 7
      quota = "5/24h"
      after = ["first"]
      use = "proxy"
      approval = true
      folders = ["./exports", "import"]
      containment = "none"
      network = true
      read = ["/srv/lut"]
      write = ["out"]
      env = ["TOKEN"]
      protocol_versions = [3]
      [destination.second.constraints]
      min_duration = "500ms"
      max_duration = "2h"
      max_size = "2GB"
      max_count = 1
      video_codecs = ["h264"]
      max_width = 3840
      [destination.second.settings]
      folder = "./archive"
      depth = 2
      nested = { list = ["./a", "b"], when = 2026-12-24 }
      """
    )
    #expect(configuration.destinations.map(\.name.text) == ["first", "second"])
    #expect(configuration.destinations[0].command == ["/etc/handoff/bin/run", "--fast"])
    let second = try #require(configuration.destination(try name("second")))
    #expect(second.idle == .seconds(60))
    #expect(second.ceiling == .seconds(7200))
    #expect(
      second.retry
        == RetryPolicy(limit: .seconds(3600), first: .seconds(1), maximum: .seconds(60))
    )
    #expect(second.concurrency == 7)
    #expect(second.quota == Quota(count: 5, duration: .seconds(86_400)))
    #expect(second.after == [try name("first")])
    #expect(second.rendition?.text == "proxy")
    #expect(second.approval)
    #expect(second.folders == ["/etc/handoff/exports", "import"])
    #expect(second.containment == .none)
    #expect(second.network)
    #expect(second.read == ["/srv/lut"])
    #expect(second.write == ["/etc/handoff/out"])
    #expect(second.env == ["TOKEN"])
    #expect(second.protocolVersions == [3])
    var constraints = Constraints()
    constraints.minDuration = 0.5
    constraints.maxDuration = 7200
    constraints.maxSize = 2_000_000_000
    constraints.maxCount = 1
    constraints.videoCodecs = ["h264"]
    constraints.maxWidth = 3840
    #expect(second.constraints == constraints)
    let nested: JSONValue = .object([
      "list": .array([.string("/etc/handoff/a"), .string("b")]), "when": .string("2026-12-24"),
    ])
    #expect(
      second.settings
        == .object([
          "folder": .string("/etc/handoff/archive"), "depth": .integer(2), "nested": nested,
        ])
    )
  }

  @Test("the other transports are decoded")
  func otherTransports() throws {
    let configuration = try decode(
      """
      [destination.a]
      transport = "http"
      url = "https://example.net/hook"
      answer = "status"
      secret = { env = "HOOK_SECRET" }
      old_secret = { file = "old" }
      idempotent = true
      [destination.b]
      transport = "url"
      url = "editor://handoff"
      [destination.c]
      transport = "file"
      inbox = "share"
      [callback.d]
      url = "https://example.net/results"
      secret = { credential = "results" }
      old_secret = { env = "OLD" }
      [callback.e]
      open = "editor://result"
      command = ["opener", "-x"]
      [callback.f]
      open = "editor://result"
      """
    )
    let destinations = configuration.destinations
    #expect(destinations.map(\.transport) == [.http, .url, .file])
    #expect(destinations[0].secret == .env("HOOK_SECRET"))
    #expect(destinations[0].oldSecret == .file("/etc/handoff/old"))
    #expect(destinations[0].retry.repeatsUnknown)
    #expect(destinations[0].answer == .status)
    let callbacks = configuration.callbacks
    #expect(try callbacks[callback("d")]?.oldSecret == .env("OLD"))
    #expect(try callbacks[callback("e")]?.command == ["opener", "-x"])
    #expect(try callbacks[callback("f")]?.command == ["xdg-open"])
    #expect(destinations[1].command == ["xdg-open"])
    #expect(destinations[1].ceiling == .seconds(3600), "its tokens expire soon")
    #expect(destinations[2].inbox == "/etc/handoff/share")
  }

  private func callback(_ text: String) throws -> CallbackID { try #require(CallbackID(text)) }

  @Test("effective settings are a configuration with the same meaning")
  func effective() throws {
    let first = try decode(SampleConfiguration.text)
    let again = try decode(first.effectiveText)
    #expect(again.broker == first.broker)
    #expect(again.library == first.library)
    #expect(again.dropFolders == first.dropFolders)
    #expect(
      again.destinations.sorted { $0.name < $1.name }
        == first.destinations.sorted { $0.name < $1.name }
    )
  }

  @Test("effective settings tell where they come from and show no secret")
  func origins() throws {
    let configuration = try decode(
      """
      [broker]
      group = "a\\"b"
      [destination.one]
      transport = "plugin"
      command = ["x"]
      [destination.one.settings]
      token = "hunter2"
      token_env = "TOKEN"
      list = [{ password = "hunter2" }]
      """
    )
    let lines = configuration.effectiveText.split(separator: "\n").map(String.init)
    #expect(lines.contains("group = \"a\\\"b\"  # line 2"))
    #expect(lines.contains("listen = \"127.0.0.1:7717\"  # default"))
    #expect(lines.contains("token = \"(not shown)\"  # line 7"))
    #expect(lines.contains("token_env = \"TOKEN\"  # line 8"))
    #expect(!configuration.effectiveText.contains("hunter2"))
  }
}
