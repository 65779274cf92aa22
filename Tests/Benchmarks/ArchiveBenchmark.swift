import Digests
import Glibc
import HandoffProtocol
import HandoffTestSupport
import LinuxSystem
import Paths

/// One large file into the archive, verified, durable; beside cp(1) and `openssl dgst`, which are neither.
///
/// The runs take turns, so that what else the machine does falls on all of them.
struct ArchiveBenchmark {
  static let mebibytes = 2048
  private static let rounds = 5

  private let folder: BytePath
  private let source: BytePath
  private let asset: ResolvedAsset
  private let identifier: LocalIdentifier

  static func run(_ mebibytes: Int, in folder: BytePath) async throws {
    let source = folder.appending("source.mov")
    try await sh("head -c \(mebibytes)M /dev/urandom > '\(source.lossyText)' && sync")
    let digest = try digest(of: source)
    let bench = ArchiveBenchmark(
      folder: folder,
      source: source,
      asset: ResolvedAsset(at: source, sha256: digest, size: Int64(mebibytes) << 20),
      identifier: LocalIdentifier(digest)
    )
    try await bench.compare()
    try await bench.remote()
  }

  private func compare() async throws {
    var copies: [Double] = []
    var syncs: [Double] = []
    var digests: [Double] = []
    var archives: [Bool: [(seconds: Double, peak: Int)]] = [:]
    let target = folder.appending("copy.mov").lossyText
    for round in 0..<Self.rounds {
      copies.append(try await timed { try await Self.sh("cp '\(source.lossyText)' '\(target)'") })
      syncs.append(try await timed { try await Self.sh("sync '\(target)'") })
      digests.append(try await timed { try await Self.sh("openssl dgst -sha256 '\(target)'") })
      try await Self.sh("rm '\(target)'; sync")
      for hasMHL in [false, true] {
        let run = try await deliver("h\(round)-\(hasMHL)", hasMHL: hasMHL)
        archives[hasMHL, default: []].append(run)
      }
    }
    Self.tell("cp", copies)
    Self.tell("sync of that copy", syncs)
    Self.tell("openssl dgst -sha256", digests)
    for hasMHL in [false, true] {
      let runs = archives[hasMHL] ?? []
      let name = hasMHL ? "archive with MHL" : "archive"
      Self.tell(name, runs.map(\.seconds))
      let fast = zip(copies, digests).map { $0 + $1 }
      let durable = zip(fast, syncs).map { $0 + $1 }
      for (others, times) in [("cp + openssl", fast), ("cp + sync + openssl", durable)] {
        let ratios = zip(runs, times).map { $0.seconds / $1 }
        Self.tell("\(name) / (\(others))", ratios, unit: "")
      }
      print("archive bench: \(name): at most \(runs.map(\.peak).max() ?? 0) KiB of memory")
    }
  }

  /// To a `local` remote of rclone: the plugin's own memory, without rclone's.
  private func remote() async throws {
    let config = folder.appending("rclone.conf")
    try DurableFile.write(Array("[store]\ntype = local\n".utf8), to: config)
    let place = folder.appending("archive")
    try Directory.create(place)
    let run = try await deliver(
      "remote",
      [
        "remote": .string("store:\(place.lossyText)"), "layout": .string("a"),
        "rclone_config": .string(config.lossyText),
      ]
    )
    Self.tell("archive on a local remote", [run.seconds])
    print("archive bench: archive on a local remote: at most \(run.peak) KiB of memory")
  }

  private func deliver(_ id: String, hasMHL: Bool) async throws -> (seconds: Double, peak: Int) {
    let place = folder.appending("archive").lossyText
    return try await deliver(
      id,
      ["folder": .string(place), "layout": .string("a"), "mhl": .bool(hasMHL)]
    )
  }

  /// Hands the file off to the plugin as a broker does; the time is from the request to its result.
  private func deliver(
    _ id: String,
    _ settings: [String: JSONValue]
  ) async throws -> (seconds: Double, peak: Int) {
    let work = folder.appending("work")
    let place = folder.appending("archive")
    try Directory.create(work)
    let (ours, theirs) = try UnixSocket.pair()
    var command = try ProcessCommand(productsFolder().appending("handoff-archive"))
    command.environment = [
      "HANDOFF_FD=3", "HANDOFF_DESTINATION=test", BytePath("HANDOFF_WORK=\(work.lossyText)"),
      "PATH=/usr/bin:/bin",
    ]
    command.descriptors = [3: theirs]
    let process = try await SpawnedProcess.spawn(command)
    try theirs.close()
    let broker = TestBroker(ours)
    async let served: Void = broker.run()
    try await broker.discover(.object(settings))
    broker.grant(identifier, asset)
    let submitted = SubmitParameters(
      handoffID: id,
      request: HandoffRequest(
        localIdentifiers: [identifier],
        state: known(StateToken("token-\(id)")),
        attempt: 1
      )
    )
    let seconds = try await timed {
      let _: SubmitAnswer = try await broker.ask(.submit, submitted)
      let outcome = try await broker.nextResult().outcome
      if let failure = outcome.failure { throw failure }
    }
    let peak = try Self.peakMemory(process.id)
    broker.close()
    _ = await process.exit()
    try await served
    try await Self.sh("rm -rf '\(place.lossyText)'; sync")
    return (seconds, peak)
  }

  private func timed(_ work: () async throws -> Void) async throws -> Double {
    let clock = ContinuousClock()
    let start = clock.now
    try await work()
    return (clock.now - start) / .seconds(1)
  }

  private static func tell(_ name: String, _ values: [Double], unit: String = " s") {
    let sorted = values.sorted()
    func text(_ value: Double) -> String { String(Double(Int(value * 100)) / 100) }
    let spread = "\(text(sorted.first ?? 0)) to \(text(sorted.last ?? 0))"
    print("archive bench: \(name): \(text(sorted[sorted.count / 2]))\(unit) (\(spread))")
  }

  /// The most that a process ever had in memory, in KiB; see proc_pid_status(5), `VmHWM`.
  private static func peakMemory(_ process: pid_t) throws -> Int {
    let status = try FileDescriptor.open(BytePath("/proc/\(process)/status"), O_RDONLY)
      .readAll(limit: 1 << 16)
    let lines = String(decoding: status, as: UTF8.self).split(separator: "\n")
    let line = lines.first { $0.hasPrefix("VmHWM:") }
    return line.flatMap { Int($0.filter(\.isNumber)) } ?? 0
  }

  private static func digest(of path: BytePath) throws -> ContentDigest {
    let file = try FileDescriptor.open(path, O_RDONLY)
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 20, alignment: 4096)
    defer { buffer.deallocate() }
    var digest = try SHA256()
    while true {
      let count = try file.read(into: buffer)
      if count == 0 { return known(ContentDigest(try digest.finish())) }
      digest.update(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
    }
  }

  private static func sh(_ script: String) async throws {
    var command = ProcessCommand("/bin/sh", arguments: ["-c", BytePath(script + " >/dev/null")])
    command.environment = ["PATH=/usr/bin:/bin"]
    let exit = await (try SpawnedProcess.spawn(command)).exit()
    guard exit == .exited(0) else { throw TestSupportError(script) }
  }
}
