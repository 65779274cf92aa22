import HandoffConfig
import HandoffCore
import Paths
import Testing

@Suite("Writers and units in a configuration")
struct WriterTests {
  private let folder = "[[drop_folder]]\npath = \"exports\"\n"

  @Test("a writer of the configuration is known in every folder, before the built-in ones")
  func writer() throws {
    let configuration = try decode(
      folder + """
        [writer.encoder]
        temporary = ["*.encoding"]
        folders = ["_scratch"]
        unfinished = [".busy"]
        remuxed = [".fixed"]
        names = ["*.master.mov"]
        quiet = "10s"
        """
    )
    var expected = WriterProfile("encoder", temporary: ["*.encoding"], folders: ["_scratch"])
    expected.unfinished = [".busy"]
    expected.remuxed = [".fixed"]
    expected.names = ["*.master.mov"]
    expected.quiet = .seconds(10)
    #expect(configuration.writers.first == expected)
    #expect(configuration.writers.count == WriterProfile.builtIn.count + 1)
    #expect(configuration.dropFolders.map(\.writers) == [configuration.writers])
    let text = configuration.effectiveText
    #expect(text.contains("[writer.encoder]\ntemporary = [\"*.encoding\"]  # line 4\n"))
    #expect(text.contains("[writer.rsync]\ntemporary = [\".*.??????\"]  # default\n"))
  }

  @Test("a built-in writer can be replaced, and keeps its title")
  func replaced() throws {
    let configuration = try decode(folder + "[writer.winscp]\ntemporary = [\"*.winscp\"]\n")
    #expect(configuration.writers.count == WriterProfile.builtIn.count)
    let names = TemporaryNames(configuration.dropFolders[0])
    #expect(names.reason(for: "a.mp4.filepart") == nil)
    #expect(names.reason(for: "a.mp4.winscp") == "a temporary name of WinSCP: *.winscp")
  }

  @Test("everything that is wrong with a writer is told at once")
  func mistakes() {
    let found = problems(
      """
      [writer."a b"]
      temporry = ["x"]
      [writer.one]
      temporary = ["a/b", "**", ""]
      unfinished = ["/x"]
      names = ["*.mov"]
      [writer.two]
      quiet = "10s"
      """
    )
    #expect(
      found == [
        "handoff.toml:1:9: \"a b\" is no name: 1 to 64 of a-z, A-Z, 0-9, _ and -, not beginning with -",
        "handoff.toml:2:1: unknown key writer.a b.temporry; did you mean temporary?",
        "handoff.toml:4:14: writer.one.temporary[0]: a pattern is for one name and has no /",
        "handoff.toml:4:21: writer.one.temporary[1]: \"**\" would fit every name",
        "handoff.toml:4:27: writer.one.temporary[2]: an empty text",
        "handoff.toml:5:15: writer.one.unfinished[0]: what is added to a name has no /",
        "handoff.toml:6:9: writer.one.names: what do these wait for? quiet has to say so",
        "handoff.toml:8:9: writer.two.quiet: whose exports wait for it? names has to say so",
      ]
    )
  }

  @Test("preference and packages are in force, and their mistakes are told")
  func units() throws {
    let configuration = try decode(
      folder + "prefer = [\"mp4\", \"mov\"]\nprefer_wait = \"2m\"\npackage = true\n"
    )
    #expect(configuration.dropFolders[0].prefer == ["mp4", "mov"])
    #expect(configuration.dropFolders[0].preferWait == .seconds(120))
    #expect(configuration.dropFolders[0].package)
    let found = problems(
      folder + "prefer = [\".mp4\", \"mov\", \"mov\"]\npackage = true\nrecursive = false\n"
    )
    #expect(
      found == [
        "handoff.toml:3:11: drop_folder[0].prefer[0]: an extension is expected, as \"mp4\"",
        "handoff.toml:3:26: drop_folder[0].prefer[2]: \"mov\" stands in the list twice",
        "handoff.toml:4:11: drop_folder[0].package: true, but recursive = false: no directory is looked into",
      ]
    )
  }
}
