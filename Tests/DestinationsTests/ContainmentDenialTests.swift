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
    hidden: ["/state", "/library", "/tmp/broker/state"],
    hasNetwork: false,
    workingDirectory: "/state/work/x"
  )
  /// What the machine has.
  private static let machine: Set<BytePath> = [
    "/data", "/data/my list.txt", "/data/list", "/media/fonts", "/media/fonts/a.ttf", "/state",
    "/state/ledger.db", "/usr/lib", "/opt/x.py", "/opt", "/tmp", "/tmp/list", "/dev/shm/list",
    "/media",
    "/tmp/broker/state/ledger.db", "/tmp/broker/state",
  ]

  private func find(_ words: String) -> ContainmentDenial? {
    ContainmentDenial.find(in: words, under: plan, isThere: Self.machine.contains)
  }

  @Test(
    "names the path that the machine has and the receiver has not",
    arguments: [
      ("cat: /data/list: No such file or directory", "/data/list"),
      ("sh: 1: /opt/x.py: not found", "/opt/x.py"),
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
      "POST /media: 404 Not Found", "/data/list: not found",
      "connect 192.0.2.1: Connection refused",
      "cat: /tmp/none: No such file or directory", "write /data/x: No space left on device",
      "kill 7: Operation not permitted",
      "cat: /usr/lib/none: No such file or directory", "open //////: permission denied",
    ]
  )
  func anotherCause(line: String) {
    #expect(find(line) == nil)
  }

  @Test("tells what is the receiver's own instead of the machine's")
  func ownPlaces() {
    let missing = "No such file or directory"
    #expect(find("cat: /tmp/list: \(missing)") == .own("/tmp/list", of: "/tmp"))
    #expect(find("cat: /dev/shm/list: \(missing)") == .own("/dev/shm/list", of: "/dev/shm"))
    // What is hidden is that, wherever it lies.
    let ledger: BytePath = "/tmp/broker/state/ledger.db"
    #expect(find("cat: \(ledger): \(missing)") == .hidden(ledger))
    #expect(find("cp: error writing '/tmp/big': No space left on device") == .memory("/tmp"))
    #expect(find("dd: /dev/shm/big: No space left on device") == .memory("/dev/shm"))
    #expect(ContainmentDenial.memory("/tmp").sentence.contains("512 MiB"))
    #expect(ContainmentDenial.own("/tmp/list", of: "/tmp").sentence.contains("its /tmp is its own"))
  }

  @Test("tells its own loopback, links and rights")
  func refusals() {
    #expect(find("curl: (7) connect to 127.0.0.1 port 80: Connection refused") == .loopback)
    #expect(find("Error: connect ECONNREFUSED ::1:8080") == .loopback)
    #expect(find("ln: failed to create hard link: Invalid cross-device link") == .link)
    #expect(find("chown: changing ownership of 'x': Operation not permitted") == .rights)
    #expect(find("ln: 'a' => 'b': hard link: Operation not permitted") == .rights)
  }

  @Test("never proposes to write into the system")
  func system() {
    let denial = find("touch: cannot touch '/usr/lib/x': Read-only file system")
    #expect(denial == .readOnly("/usr/lib/x"))
    #expect(denial?.remedy.contains("HANDOFF_WORK") == true)
    #expect(denial?.remedy.contains("add") == false)
  }

  @Test("of network is none where the receiver has one")
  func network() {
    var open = plan
    open.hasNetwork = true
    #expect(ContainmentDenial.find(in: "Network is unreachable", under: open) == nil)
    #expect(ContainmentDenial.find(in: "127.0.0.1: Connection refused", under: open) == nil)
  }
}
