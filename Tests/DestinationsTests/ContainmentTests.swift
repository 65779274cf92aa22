import Destinations
import Paths
import Testing

@Suite("Containment")
struct ContainmentTests {
  private let system = SystemLayout(
    links: [.init(name: "/bin", target: "usr/bin")],
    folders: ["/usr"],
    configuration: ["/etc/hosts"]
  )

  private func arguments(
    _ bindings: [Containment.Binding],
    hidden: [BytePath] = [],
    network: Bool = false
  ) -> [BytePath] {
    let plan = Containment(
      system: system,
      bindings: bindings,
      hidden: hidden,
      hasNetwork: network,
      workingDirectory: "/w"
    )
    return plan.options(statusDescriptor: 9)
  }

  private func binding(_ path: BytePath, _ isWritable: Bool = false) -> Containment.Binding {
    Containment.Binding(source: path, place: path, isWritable: isWritable)
  }

  private func position(_ words: [BytePath], in list: [BytePath]) -> Int? {
    list.indices.first { list[$0...].starts(with: words) }
  }

  @Test("shows the system to read only")
  func system_() {
    let list = arguments([])
    #expect(position(["--ro-bind", "/usr", "/usr"], in: list) != nil)
    #expect(position(["--symlink", "usr/bin", "/bin"], in: list) != nil)
    #expect(position(["--ro-bind", "/etc/hosts", "/etc/hosts"], in: list) != nil)
    #expect(position(["--json-status-fd", "9"], in: list) != nil)
    #expect(list.suffix(2) == ["--chdir", "/w"])
    #expect(!list.contains("--bind"))
  }

  @Test("has a network only where the destination says so")
  func network() {
    #expect(arguments([]).contains("--unshare-net"))
    #expect(!arguments([], network: true).contains("--unshare-net"))
  }

  @Test("mounts parents before what lies in them, after the private /tmp")
  func order() throws {
    let list = arguments([binding("/tmp/a/b/c", true), binding("/tmp/a"), binding("/tmp/a/b")])
    let places = ["/tmp/a", "/tmp/a/b", "/tmp/a/b/c"].map {
      position([BytePath($0), BytePath($0)], in: list)
    }
    #expect(!places.contains(nil))
    #expect(places.compactMap { $0 } == places.compactMap { $0 }.sorted())
    let privateFolder = try #require(position(["--tmpfs", "/tmp"], in: list))
    #expect(privateFolder < places[0] ?? 0)
  }

  @Test("covers hidden folders that a binding would show, and shows again what lies in them")
  func hidden() throws {
    let list = arguments(
      [
        .init(source: "/mnt/big", place: "/data", isWritable: false),
        .init(source: "/mnt/big/state/work", place: "/data/state/work", isWritable: true),
      ],
      hidden: ["/mnt/big/state", "/elsewhere"]
    )
    let shown = try #require(position(["--ro-bind", "/mnt/big", "/data"], in: list))
    let covered = try #require(position(["--tmpfs", "/data/state"], in: list))
    let work = try #require(
      position(["--bind", "/mnt/big/state/work", "/data/state/work"], in: list)
    )
    #expect(shown < covered)
    #expect(covered < work)
    #expect(!list.contains("/elsewhere"))
  }

  @Test("lets a folder that may be read and written be written")
  func both() {
    let list = arguments([binding("/both", true), binding("/both")])
    #expect(position(["--bind", "/both", "/both"], in: list) != nil)
    #expect(position(["--ro-bind", "/both", "/both"], in: list) == nil)
  }

  @Test("of this machine shows no more of /etc than its parts")
  func thisMachine() throws {
    let layout = try SystemLayout.current()
    #expect(layout.folders.contains("/usr"))
    #expect(layout.configuration.contains("/etc/passwd"))
    #expect(!layout.configuration.contains { "/etc/shadow".isInside($0) })
    #expect(layout.shows("/usr/bin/env"))
    #expect(!layout.shows("/etc/passwd"))
  }
}

extension String {
  fileprivate func isInside(_ folder: BytePath) -> Bool { BytePath(self).isInside(folder) }
}
