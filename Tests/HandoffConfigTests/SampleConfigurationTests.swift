import FoundationEssentials
import HandoffCore
import HandoffProtocol
import Paths
import Testing

@testable import HandoffConfig

@Suite("Sample configuration")
struct SampleConfigurationTests {
  @Test("the text in the program is that of config/handoff.toml")
  func sameText() throws {
    let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent()
    let file = try Data(contentsOf: root.appending(path: "config/handoff.toml"))
    #expect(String(decoding: file, as: UTF8.self) == SampleConfiguration.text)
  }

  @Test("it can be used as it is")
  func usable() throws {
    #expect(try decode(SampleConfiguration.text).destinations.count == 2)
  }

  @Test("its values are the defaults, but for what makes it work at once")
  func defaults() throws {
    let configuration = try decode(SampleConfiguration.text)
    #expect(configuration.broker == BrokerSettings(state: "/etc/handoff/state"))
    #expect(configuration.library == LibrarySettings(path: "/etc/handoff/library"))
    var folder = DropFolderSettings(path: "/etc/handoff/exports")
    folder.handoff = [try name("archive"), try name("preview")]
    #expect(configuration.dropFolders == [folder])
    for name in folder.handoff {
      var expected = DestinationSettings(
        name: name,
        transport: .plugin,
        command: ["handoff-\(name)"]
      )
      expected.write = [BytePath("/etc/handoff/\(name)")]
      expected.settings = .object(["folder": .string("/etc/handoff/\(name)")])
      #expect(configuration.destination(name) == expected)
    }
  }

  @Test("every key stands in it, with or without a number sign before it")
  func everyKey() throws {
    let lines = SampleConfiguration.text.split(separator: "\n").map { line in
      line.hasPrefix("# ") && (line.contains(" = ") || line.hasPrefix("# ["))
        ? line.dropFirst(2) : line
    }
    // The prose of comments has no " = "; what is left is TOML.
    let text = lines.joined(separator: "\n")
    let context = DecodingContext(file: "sample", directory: "/")
    _ = ConfigurationDraft(
      from: try TableReader.root(of: Array(text.utf8), limit: .max, context: context)
    )
    let found = Set(context.places.keys.map(shape))
    let missing = Configuration.knownKeys().subtracting(found)
      .filter { !$0.hasSuffix("secret.file") && !$0.hasSuffix("secret.credential") }
    #expect(missing.isEmpty)
    #expect(text.contains("{ file = ") && text.contains("{ credential = "))
    #expect(!context.problems.contains { $0.text.contains("unknown key") })
  }

  @Test("the social example works when its number signs are taken away")
  func social() throws {
    var isExample = false
    var text = ""
    for line in SampleConfiguration.text.split(separator: "\n", omittingEmptySubsequences: false) {
      if line == "# [destination.social]" { isExample = true }
      if line.isEmpty { isExample = false }
      text += (isExample && line.hasPrefix("# ") ? line.dropFirst(2) : line) + "\n"
    }
    let social = try #require(try decode(text).destination(try name("social")))
    #expect(social.network)
    #expect(social.env == ["SOCIAL_TOKEN"])
    #expect(social.settings["token_env"] == .string("SOCIAL_TOKEN"))
  }

  private func shape(_ path: String) -> String {
    var parts = path.split(separator: ".").map { $0.prefix { $0 != "[" } }
    if parts.count > 1, ["destination", "callback", "writer"].contains(parts[0]) { parts[1] = "*" }
    return parts.joined(separator: ".")
  }
}
