import Destinations
import Paths
import Testing

@Suite("A denial by containment")
struct ContainmentDenialTests {
  private let plan = Containment(
    system: SystemLayout(
      links: [.init(name: "/bin", target: "usr/bin")],
      folders: ["/usr"],
      configuration: ["/etc/hosts"]
    ),
    bindings: [
      .init(source: "/media/fonts", place: "/media/fonts", isWritable: false),
      .init(source: "/state/work/x", place: "/state/work/x", isWritable: true),
    ],
    hidden: ["/state", "/library"],
    hasNetwork: false,
    workingDirectory: "/state/work/x"
  )
  /// What the machine has.
  private static let machine: Set<BytePath> = [
    "/data", "/data/my list.txt", "/data/list", "/media/fonts", "/media/fonts/a.ttf", "/state",
    "/state/ledger.db", "/usr/lib", "/opt/x.py", "/opt",
  ]

  private func find(_ words: String) -> ContainmentDenial? {
    ContainmentDenial.find(in: words, under: plan, isThere: Self.machine.contains)
  }

  @Test(
    "names the path that the machine has and the receiver has not",
    arguments: [
      ("cat: /data/list: No such file or directory", "/data/list"),
      ("sh: 1: cannot open /data/list: No such file", "/data/list"),
      (
        "FileNotFoundError: [Errno 2] No such file or directory: '/data/my list.txt'",
        "/data/my list.txt"
      ),
      ("Error: ENOENT: no such file or directory, open '/data/list'", "/data/list"),
      ("python3: can't open file '/opt/x.py': [Errno 2] No such file or directory", "/opt/x.py"),
      ("touch: cannot touch '/data/new': No such file or directory", "/data/new"),
      (
        "mkdir: cannot create directory \u{2018}/data/new\u{2019}: Read-only file system",
        "/data/new"
      ),
    ]
  )
  func notShown(line: String, path: String) {
    #expect(find("more\n\(line)\nbye") == .notShown(BytePath(path)))
  }

  @Test("tells reading from writing, and the broker's own from the rest")
  func others() {
    #expect(
      find("cp: cannot create '/media/fonts/b.ttf': Read-only file system")
        == .readOnly("/media/fonts/b.ttf")
    )
    #expect(find("open /state/ledger.db: no such file or directory") == .hidden("/state/ledger.db"))
    #expect(find("curl: (6) Could not resolve host: example.org") == .network)
    #expect(
      find("x: error while loading shared libraries: libx.so.1: cannot open shared object file")
        == .library("libx.so.1")
    )
    #expect(ContainmentDenial.network.remedy.contains("network = true"))
    #expect(ContainmentDenial.notShown("/data/list").remedy.contains("/data"))
  }

  @Test(
    "is not seen in a failure of another cause",
    arguments: [
      "cat: /nowhere/list: No such file or directory", "it cost 3/4 of /data/list",
      "cat: /state/work/x/list: No such file or directory", "no such file or directory", "", "/",
      "HTTP 404 not found: https://example.org/data/list", "connection refused",
      "cat: /usr/lib/none: No such file or directory", "open //////: permission denied",
    ]
  )
  func anotherCause(line: String) {
    #expect(find(line) == nil)
  }

  @Test("of network is none where the receiver has one")
  func network() {
    var open = plan
    open.hasNetwork = true
    #expect(ContainmentDenial.find(in: "Network is unreachable", under: open) == nil)
  }
}
