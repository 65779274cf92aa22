import Digests
import Glibc
import HandoffProtocol
import HandoffTestSupport
import LinuxSystem
import Paths
import Testing

/// A contained receiver tries everything that it must not do, against a real broker.
@Suite("A contained receiver", .timeLimit(.minutes(2)))
struct AttackTests {
  /// What every contained receiver may do.
  ///
  /// In a network namespace of its own it may also take the abstract name of the library's socket, which
  /// is another one there.
  private static let allowed = ["library_name", "read_asset", "write_temporary", "write_work"]

  @Test("reaches nothing but its own", arguments: ["exec", "plugin"])
  func alone(transport: String) async throws {
    try await Self.attack(transport, network: false) { report in
      #expect(report.successes == Self.allowed, "\(report.rest)")
    }
  }

  @Test("with the network reaches the network, and no more of the broker")
  func network() async throws {
    try await Self.attack("exec", network: true) { report in
      let more = ["abstract", "read_asset", "tcp", "write_temporary", "write_work"]
      // A datagram goes out where the machine has a route.
      #expect(report.successes.filter { $0 != "udp" } == more, "\(report.rest)")
      // The broker holds it, and nobody listens there.
      #expect(report.rest["library_name"] == "EADDRINUSE")
      #expect(report.rest["library_connect"] == "ECONNREFUSED")
    }
  }

  @Test("reaches nothing either where the broker is an ordinary user's")
  func ordinaryUser() async throws {
    let user: [BytePath] = [
      "/usr/bin/setpriv", "--reuid=65534", "--regid=65534", "--clear-groups",
    ]
    let trial = "bwrap --ro-bind / / --unshare-pid --unshare-net true"
    guard geteuid() == 0,
      await shell(user.map(\.lossyText).joined(separator: " ") + " \(trial) 2>/dev/null") == 0
    else {
      print("skipped, no ordinary user can make user namespaces here")
      return
    }
    for transport in ["exec", "plugin"] {
      try await Self.attack(transport, network: false, prefix: user, user: 65_534) { report in
        #expect(report.successes == Self.allowed, "\(report.rest)")
      }
    }
  }

  // MARK: Parts

  private struct Report {
    /// By name: `succeeded`, or what kept the receiver from it.
    let rest: [String: String]
    let facts: [String: String]

    var successes: [String] { rest.filter { $0.value == "succeeded" }.keys.sorted() }

    init(_ output: [String: JSONValue]) {
      let texts = output.mapValues { $0.text ?? "" }
      rest = texts.filter { !$0.key.hasPrefix("fact_") }
      facts = texts.filter { $0.key.hasPrefix("fact_") }
    }
  }

  private static func attack(
    _ transport: String,
    network: Bool,
    prefix: [BytePath] = [],
    user: UInt32? = nil,
    _ check: (Report) throws -> Void
  ) async throws {
    let name = "handoff-test-\(getpid())-\(UInt64.random(in: 0...UInt64.max))"
    let abstract = try UnixSocket.claim(name)
    try checked("listen") { listen(abstract.rawValue, 1) }
    let (listener, port) = try loopbackListener()
    defer { withExtendedLifetime((abstract, listener)) {} }
    try await HostileScene.run(prefix: prefix, user: user) { hostile in
      hostile.destination("shy", "exec", ["attack.py", "exec"])
    } _: { hostile in
      let asset = try await hostile.importVideo(1)
      _ = try await hostile.importVideo(2)
      let digests = try objects(hostile)
      // The library's id and the objects are known only now, so the attack is configured with the second
      // start.
      await hostile.broker.end(SIGTERM)
      let words = ["attack.py", transport] + (try targets(hostile, port, name))
      let settings = "containment = \"require\"\nnetwork = \(network)\nidle = \"30s\""
      let text = Scene.configuration(
        destinations: hostile.destination("hostile", transport, words, settings)
      )
      try DurableFile.write(Array(text.utf8), to: hostile.broker.config, permissions: 0o644)
      try await hostile.broker.start()
      let pid = try await hostile.brokerID
      let note = hostile.root.appending("state/work/hostile/pid")
      try DurableFile.write(Array("\(pid)".utf8), to: note, permissions: 0o644)
      let handoff = try await hostile.sendAndWait(asset, to: "hostile")
      guard case .object(let output) = handoff["output"] ?? .null else {
        let log = try hostile.broker.tail()
        Issue.record("no report: \(handoff) \(log)")
        return
      }
      let report = Report(output)
      #expect(report.rest.count > 60)
      try check(report)
      #expect(report.facts["fact_privileges"] == "1 ")
      #expect(report.facts["fact_umask"] == "0022")
      #expect(report.facts["fact_limits"] == "0 4096")
      #expect(report.facts["fact_temporary"] == "536870912")
      // The broker is the same process, and nothing that it keeps is another.
      #expect(try await hostile.brokerID == pid)
      #expect(try objects(hostile) == digests)
      for (path, digest) in digests {
        let bytes = try FileDescriptor.open(path, O_RDONLY).readAll(limit: 1 << 24)
        #expect(try Scene.digest(bytes) == digest)
      }
      await hostile.broker.end(SIGKILL)
      try await hostile.broker.start()
      #expect(try await hostile.broker.json("status")["library"]?["status"]?.text == "available")
    }
  }

  /// Each object's path, and the digest that is its name.
  private static func objects(_ hostile: HostileScene) throws -> [BytePath: String] {
    let names = try hostile.scene.objects().map(\.lossyText)
    #expect(names.count == 2)
    return Dictionary(uniqueKeysWithValues: names.map { (hostile.scene.object($0), $0) })
  }

  private static func targets(
    _ hostile: HostileScene,
    _ port: UInt16,
    _ abstract: String
  ) throws -> [String] {
    let root = hostile.root
    let secret = root.appending("home/secret")
    try Directory.create(secret.parent)
    try DurableFile.write(Array("secret".utf8), to: secret, permissions: 0o644)
    let file = try FileDescriptor.open(root.appending("library/library.json"), O_RDONLY)
    let library = try WireCoder.decode(JSONValue.self, from: try file.readAll(limit: 1 << 16))
    let object = try #require(try objects(hostile).keys.first)
    let paths: [(String, BytePath)] = [
      ("ledger", root.appending("state/ledger.db")), ("key", root.appending("state/ledger.key")),
      ("socket", root.appending("state/handoff.sock")), ("other_asset", object),
      ("objects", object.parent), ("home", secret), ("configuration", hostile.broker.config),
      ("export", root.appending("by hand 1.mp4")),
    ]
    return paths.map { "\($0)=\($1.lossyText)" }
      + [
        "port=\(port)", "abstract=\(abstract)", "library=\(try library.text(of: "id"))",
      ]
  }

  /// Listens on any port of the loopback interface.
  private static func loopbackListener() throws -> (FileDescriptor, UInt16) {
    let number = try checked("socket") { socket(AF_INET, CInt(SOCK_STREAM.rawValue), 0) }
    let descriptor = FileDescriptor(owning: number)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    var size = socklen_t(MemoryLayout<sockaddr_in>.size)
    let port = try withUnsafeMutablePointer(to: &address) { pointer throws(SystemError) in
      let generic = UnsafeMutableRawPointer(pointer).assumingMemoryBound(to: sockaddr.self)
      try checked("bind") { bind(number, generic, size) }
      try checked("listen") { listen(number, 1) }
      try checked("getsockname") { getsockname(number, generic, &size) }
      return UInt16(bigEndian: pointer.pointee.sin_port)
    }
    return (descriptor, port)
  }
}
