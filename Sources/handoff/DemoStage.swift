import Glibc
import HandoffConfig
import HandoffControl
import HandoffCore
import HandoffProtocol
import HandoffService
import LinuxSystem
import MastodonStandIn
import Paths

/// The demo's throwaway folder, its broker (this same program, as anybody would start it), and the local
/// stand-in for a social platform.
struct DemoStage {
  let root: BytePath
  let configuration: Configuration
  let broker: SpawnedProcess
  let standIn: MastodonStandIn
  /// A real video, made by ffmpeg, outside the drop folder.
  let sample: BytePath

  private static let token = "demo-token-of-a-throwaway-server"

  var exports: BytePath { root.appending("exports") }
  var log: BytePath { root.appending("broker.log") }

  static func make() async throws -> DemoStage {
    var template = Array("/tmp/handoff-demo.XXXXXX".utf8CString)
    guard mkdtemp(&template) != nil else { throw SystemError.last("mkdtemp") }
    let root = BytePath(template.dropLast().map(UInt8.init(bitPattern:)))
    for name in ["exports", "archive", "preview"] { try Directory.create(root.appending(name)) }
    let sample = root.appending("sample.mp4")
    Terminal.out("A throwaway folder: \(root.displayText)")
    try await makeSample(sample)
    let standIn = MastodonStandIn(token: token)
    let port = try standIn.start()
    let file = root.appending("handoff.toml")
    try DurableFile.write(Array(text(port: port).utf8), to: file, permissions: 0o600)
    let configuration = try ConfigurationFile.load(at: file)
    let broker = try await startBroker(file, root)
    return DemoStage(
      root: root,
      configuration: configuration,
      broker: broker,
      standIn: standIn,
      sample: sample
    )
  }

  /// The configuration of the demo; social is a plugin like the others, with a server on loopback.
  private static func text(port: UInt16) -> String {
    """
    [broker]
    state = "state"
    listen = ""

    [library]
    path = "library"

    [[drop_folder]]
    path = "exports"
    quiet = "500ms"
    handoff = ["archive", "preview"]
    sync_publish_to = ["social"]

    [destination.archive]
    transport = "plugin"
    command = ["handoff-archive"]
    write = ["archive"]
    [destination.archive.settings]
    folder = "./archive"

    [destination.preview]
    transport = "plugin"
    command = ["handoff-preview"]
    write = ["preview"]
    [destination.preview.settings]
    folder = "./preview"

    [destination.social]
    transport = "plugin"
    command = ["handoff-social"]
    network = true
    env = ["HANDOFF_DEMO_TOKEN"]
    [destination.social.settings]
    server = "http://127.0.0.1:\(port)"
    token_env = "HANDOFF_DEMO_TOKEN"
    """
  }

  /// Four seconds of moving bars with a tone.
  private static func makeSample(_ path: BytePath) async throws {
    let status = try await run([
      "ffmpeg", "-nostdin", "-v", "error", "-f", "lavfi", "-i", "testsrc2=size=640x360:rate=25",
      "-f", "lavfi", "-i", "sine=frequency=440", "-t", "4", "-c:v", "libx264", "-pix_fmt",
      "yuv420p",
      "-c:a", "aac", path.lossyText,
    ])
    try DemoFailure.unless(status == .exited(0), "ffmpeg could not make a sample: \(status)")
    Terminal.out(
      "A real video to export: \(path.displayText), \(try FileStatus.of(path)?.size ?? 0) bytes"
    )
  }

  private static func run(_ arguments: [String]) async throws -> ExitStatus {
    var command = ProcessCommand(
      "/usr/bin/env",
      arguments: arguments.map { BytePath($0) },
      environment: ["PATH=/usr/local/bin:/usr/bin:/bin"]
    )
    command.descriptors[2] = FileDescriptor(owning: dup(STDERR_FILENO))
    return try await SpawnedProcess.spawn(command).exit()
  }

  private static func startBroker(_ file: BytePath, _ root: BytePath) async throws -> SpawnedProcess
  {
    let log = try FileDescriptor.open(
      root.appending("broker.log"),
      O_WRONLY | O_CREAT | O_APPEND,
      mode: 0o644
    )
    var command = ProcessCommand(
      try Programs.thisExecutable(),
      arguments: ["serve", "--config", file],
      environment: [
        "PATH=/usr/local/bin:/usr/bin:/bin", BytePath("HANDOFF_DEMO_TOKEN=\(token)"),
      ]
    )
    command.descriptors = [1: log, 2: log]
    let broker = try await SpawnedProcess.spawn(command)
    Terminal.out("The broker starts (process \(broker.id)).")
    return broker
  }

  /// The broker's own view, or nil while it does not answer yet.
  func status() async throws -> StatusReport? {
    let state = StateFolder(configuration.broker.state)
    do {
      let nothing: [String: String] = [:]
      return try await ControlClient.ask(state.socket, .status, nothing, as: StatusReport.self)
    } catch let error as ControlError where error.code == .unavailable {
      return nil
    }
  }

  /// The end of the broker's log, for when something went wrong.
  func logTail() -> String {
    do {
      let bytes = try FileDescriptor.open(log, O_RDONLY).readAll(limit: 16 << 20)
      return String(decoding: bytes.suffix(4000), as: UTF8.self)
    } catch {
      return "its log cannot be read: \(error)"
    }
  }

  /// Ends what was started and removes the folder.
  func tearDown(keep: Bool) async throws {
    _ = await broker.terminate(grace: .seconds(20))
    await standIn.stop()
    if keep {
      Terminal.out("Kept: \(root.displayText)")
    } else {
      try Directory.removeTree(root)
    }
  }
}
