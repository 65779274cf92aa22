import Glibc
import HandoffProtocol
import HandoffTestSupport
import LinuxSystem
import MastodonStandIn
import Paths

/// Uploads a large file with the `social` plugin of the same build to a stand-in that keeps nothing of it, and
/// measures the plugin's memory.
struct UploadBenchmark {
  /// What a plugin may have needed at its peak.
  static let limit = 64 * 1024

  private struct Figures: Encodable {
    var bytes: Int64
    var seconds: Double
    var mebibytesPerSecond: Double
    var pluginPeak: Int
    var pluginLimit = UploadBenchmark.limit

    enum CodingKeys: String, CodingKey {
      case bytes
      case seconds
      case mebibytesPerSecond = "mib_per_s"
      case pluginPeak = "plugin_peak_kib"
      case pluginLimit = "plugin_limit_kib"
    }
  }

  /// Sends a sparse file of so many bytes.
  static func run(_ size: Int64, in folder: BytePath) async throws {
    let file = folder.appending("large.mp4")
    let sparse = try FileDescriptor.open(file, O_WRONLY | O_CREAT | O_EXCL)
    guard ftruncate(sparse.rawValue, Int(size)) == 0 else { throw SystemError.last("ftruncate") }
    try sparse.close()
    try Directory.create(folder.appending("work"))
    var rules = StandInRules()
    rules.maxSize = .max
    let server = MastodonStandIn(token: "bench", rules: rules)
    let plugin = PluginUnderTest(
      name: "handoff-social",
      settings: .object([
        "server": .string("http://127.0.0.1:\(try server.start())"),
        "token_env": .string("BENCH_TOKEN"), "poll_interval_s": .number(0.1),
      ]),
      work: folder.appending("work"),
      environment: ["BENCH_TOKEN=bench"]
    )
    guard let digest = ContentDigest(hex: String(repeating: "0", count: 64)) else { return }
    let identifier = LocalIdentifier(digest)
    let asset = ResolvedAsset(at: file, sha256: digest, size: size)
    let start = ContinuousClock.now
    let (outcome, peak) = try await plugin.run { broker, process in
      broker.grant(identifier, asset)
      let answer: SubmitAnswer = try await broker.ask(.submit, submission("h", [identifier]))
      guard answer.accepted else { throw TestSupportError("not taken: \(answer)") }
      let outcome = try await broker.nextResult().outcome
      return (outcome, try memory("VmHWM:", of: process.id))
    }
    let seconds = (ContinuousClock.now - start) / .seconds(1)
    await server.stop()
    guard outcome.output != nil, server.uploads.map(\.size) == [size] else {
      throw TestSupportError("it did not arrive: \(outcome)")
    }
    try show(
      Figures(
        bytes: size,
        seconds: seconds,
        mebibytesPerSecond: Double(size) / 1_048_576 / seconds,
        pluginPeak: peak
      )
    )
    guard peak < limit else { throw TestSupportError("\(peak) KiB, more than \(limit)") }
  }

  /// A line of a process's status, in KiB.
  private static func memory(_ name: String, of process: Int32) throws -> Int {
    let file = try FileDescriptor.open(BytePath("/proc/\(process)/status"), O_RDONLY)
    let text = String(decoding: try file.readAll(limit: 1 << 16), as: UTF8.self)
    let line = text.split(separator: "\n").first { $0.hasPrefix(name) }
    guard let number = line.flatMap({ Int($0.filter(\.isNumber)) }) else {
      throw TestSupportError("no \(name) of process \(process)")
    }
    return number
  }

  private static func show(_ figures: Figures) throws {
    print(
      "upload: \(figures.bytes) bytes in \((figures.seconds * 10).rounded() / 10) s, "
        + "the plugin had \(figures.pluginPeak / 1024) MiB in memory at most"
    )
    print(String(decoding: try WireCoder.encode(figures), as: UTF8.self))
  }
}
