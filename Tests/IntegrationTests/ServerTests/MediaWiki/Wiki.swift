import Glibc
import HandoffProtocol
import HandoffTestSupport
import LinuxSystem
import Paths
import Synchronization
import Testing

/// A real MediaWiki 1.39 on a free port, with a database of its own in a temporary folder.
final class Wiki: Sendable {
  /// The one of the running suite.
  @TaskLocal static var current: Wiki?

  static let user = "Poster@handoff"
  static let password = "0123456789abcdef0123456789abcdef"
  private static let program: BytePath = "/usr/share/mediawiki"

  let port: UInt16
  private let folder: TemporaryFolder
  private let server = Slot()
  private let numbers = Atomic<UInt64>(0)

  private init() throws {
    port = try Loopback.freePort()
    folder = try TemporaryFolder()
  }

  var root: BytePath { folder.path }
  var url: String { "http://127.0.0.1:\(port)" }

  static func running(_ body: @concurrent @Sendable () async throws -> Void) async throws {
    let wiki = try Wiki()
    try await wiki.install()
    try await wiki.start()
    do {
      try await $current.withValue(wiki) { try await body() }
    } catch {
      await wiki.stop()
      throw error
    }
    await wiki.stop()
  }

  /// One that nobody else has.
  func number() -> UInt64 { numbers.add(1, ordering: .relaxed).newValue }

  static func running() throws -> Wiki { try #require(current, "the suite runs no wiki") }

  // MARK: The server

  func start() async throws {
    var command = ProcessCommand(
      "/usr/bin/php",
      arguments: [
        "-d", "upload_max_filesize=1M", "-d", "post_max_size=2M", "-S",
        BytePath("127.0.0.1:\(port)"), "-t", Self.program,
      ],
      environment: environment + ["PHP_CLI_SERVER_WORKERS=4"]
    )
    let log = try FileDescriptor.open(
      root.appending("server.log"),
      O_WRONLY | O_CREAT | O_APPEND,
      mode: 0o644
    )
    command.descriptors = [1: log, 2: log]
    server.set(try await SpawnedProcess.spawn(command))
    let listens = try await poll { Loopback.accepts(port) ? true : nil }
    try #require(listens == true, "php does not listen")
  }

  /// Kills it with all that it is doing.
  func stop() async {
    guard let process = server.take() else { return }
    process.signalGroup(SIGKILL)
    _ = await process.exit()
  }

  /// Has each request begin with some PHP, until it is taken back with nothing.
  func behave(_ php: String) throws {
    try DurableFile.write(Array(php.utf8), to: root.appending("extra"))
  }

  /// Runs one of MediaWiki's own programs.
  @discardableResult
  func maintain(_ words: BytePath...) async throws -> String {
    var command = ProcessCommand(
      "/usr/bin/php",
      arguments: [Self.program.appending("maintenance").appending(words[0])] + words.dropFirst(),
      environment: environment
    )
    let (reading, writing) = try FileDescriptor.pipe()
    command.descriptors = [1: writing, 2: writing]
    let process = try await SpawnedProcess.spawn(command)
    try writing.close()
    let said = try await BlockingThread("test.wiki").run { try reading.readAll(limit: 1 << 22) }
    let text = String(decoding: said, as: UTF8.self)
    try #require(await process.exit() == .exited(0), "\(words): \(text)")
    return text
  }

  /// What uploads leave to a job, which a wiki runs whenever it likes.
  enum Job: String {
    case assembling = "AssembleUploadChunks"
    case publishing = "PublishStashedFile"
  }

  func run(_ job: Job) async throws {
    try await maintain("runJobs.php", "--type", BytePath(job.rawValue))
  }

  private var environment: [BytePath] {
    let configuration = BytePath("MW_CONFIG_FILE=\(root.lossyText)/conf/LocalSettings.php")
    return [configuration, "PATH=/usr/bin:/bin", BytePath("TMPDIR=\(root.lossyText)/tmp")]
  }

  private func install() async throws {
    for name in ["db", "conf", "images", "tmp"] as [BytePath] {
      try Directory.create(root.appending(name))
    }
    let line = """
      php \(Self.program.lossyText)/maintenance/install.php --dbtype=sqlite \
      --dbpath='\(root.lossyText)/db' --dbname=wiki --server=\(url) --scriptpath= --lang=en \
      --pass=Poster-pw-12345 --confpath='\(root.lossyText)/conf' --skins= Wiki Poster \
      > '\(root.lossyText)/install.log' 2>&1
      """
    try #require(await shell(line) == 0, "\(line)")
    let path = root.appending("conf/LocalSettings.php")
    let settings = try FileDescriptor.open(path, O_RDONLY).readAll(limit: 1 << 20)
    let more = """

      $wgEnableUploads = true;
      $wgFileExtensions = ["mp4", "webm"];
      $wgUploadDirectory = "\(root.lossyText)/images";
      // It serves the files, too, as php cannot from another folder.
      $wgUploadPath = "/img_auth.php";
      $wgMaxUploadSize = 3 * 1024 * 1024;
      $wgMinUploadChunkSize = 64 * 1024;
      $wgJobRunRate = 0;
      $wgRateLimits = [];
      $handoffRoot = "\(root.lossyText)";
      // Not included: php would keep the former text for two seconds.
      eval(is_file("$handoffRoot/extra") ? file_get_contents("$handoffRoot/extra") : "");

      """
    try DurableFile.write(settings + Array(more.utf8), to: path)
    try await maintain(
      "createBotPassword.php",
      "--appid",
      "handoff",
      "--grants",
      "basic,editpage,createeditmovepage,uploadfile",
      "Poster",
      BytePath(Self.password)
    )
    try await maintain("createAndPromote.php", "Other", "Other-pw-1234567")
  }

  // MARK: Videos

  /// A WebM of some 200 KB that no other call gives.
  func video() async throws -> [UInt8] {
    let number = number()
    let path = root.appending("sample.webm")
    if try FileStatus.of(path) == nil {
      let line = """
        ffmpeg -nostdin -v error -y -f lavfi -i testsrc2=size=320x240:rate=25 -frames:v 50 \
        -c:v libvpx -b:v 1M -metadata comment=NUMBER-0000000000 '\(path.lossyText)'
        """
      try #require(await shell(line) == 0, "\(line)")
    }
    var bytes = try ServerTests.bytes(path)
    let mark = Array("NUMBER-0000000000".utf8)
    let place = try #require(
      (0..<bytes.count - mark.count).first { start in
        bytes[start..<start + mark.count].elementsEqual(mark)
      }
    )
    let digits = String(1_000_000_000 + number)
    bytes.replaceSubrange(place + 7..<place + 17, with: digits.utf8)
    return bytes
  }
}

/// Runs a suite with a wiki of its own.
struct WikiTrait: SuiteTrait, TestScoping {
  @concurrent func provideScope(
    for test: Test,
    testCase: Test.Case?,
    performing body: @concurrent @Sendable () async throws -> Void
  ) async throws {
    try await Wiki.running(body)
  }
}

extension Trait where Self == WikiTrait {
  /// ``Wiki/current`` runs, for the whole suite.
  static var wiki: WikiTrait { WikiTrait() }
}
