import Glibc
import HandoffPluginKit
import HandoffProtocol
import LinuxSystem
import Paths

/// The ffmpeg and ffprobe programs.
struct FFmpeg: Sendable {
  private static let folders = "/usr/local/bin:/usr/bin:/bin"
  /// Containers that hold their pictures themselves.
  ///
  /// A playlist (HLS, concat, image sequences) names other files, which would end in somebody's preview.
  private static let containers: BytePath =
    "mov,mp4,m4a,3gp,3g2,mj2,matroska,webm,avi,mpegts,mpeg,mpegvideo,h264,hevc,flv,live_flv,gif,mxf,asf,ogg,dv,ivf,m4v,nut,wtv,rm"
  /// Larger pictures are not decoded: 8192 squared.
  static let mostPixels = 67_108_864

  let program: BytePath
  let prober: BytePath
  /// At most this many threads in each part of it; nil for as many as there are processors.
  let threads: Int?
  /// Added to its niceness.
  let niceness: Int

  /// Finds the programs in folders with colons in between; in the usual ones where they are nil.
  init(path: String?, threads: Int? = nil, niceness: Int = 0) throws(ResultError) {
    func find(_ name: String) throws(ResultError) -> BytePath {
      if let found = CommandSearch.find(name, on: path ?? Self.folders) { return found }
      throw .notConfigured("\(name) is not on PATH", remedy: "Install the package ffmpeg.")
    }
    program = try find("ffmpeg")
    prober = try find("ffprobe")
    self.threads = threads
    self.niceness = niceness
  }

  /// The arguments that open an asset.
  func input(_ path: BytePath, before: [BytePath] = []) -> [BytePath] {
    let guarded: [BytePath] = [
      "-protocol_whitelist", "file", "-format_whitelist", Self.containers, "-max_pixels",
      BytePath("\(Self.mostPixels)"),
    ]
    return before + guarded + limit("-threads") + ["-i", path]
  }

  /// An option with the number of threads, where they are limited.
  func limit(_ option: BytePath) -> [BytePath] {
    threads.map { [option, BytePath("\($0)")] } ?? []
  }

  /// Reads what an asset holds, as JSON.
  func probe(_ path: BytePath, in folder: BytePath) async throws -> [UInt8] {
    let said = JoinedLines(limit: 16 << 20)
    var run = FFmpegRun(prober)
    // Cameras and editing programs write whole documents into tags.
    run.longestLine = 16 << 20
    run.arguments =
      [
        "-v", "repeat+error", "-print_format", "json", "-show_program_version", "-show_format",
        "-show_streams", "-show_chapters",
      ] + input(path)
    run.readers[1] = { said.take($0) }
    _ = try await perform(run, in: folder)
    return said.bytes
  }

  /// Runs ffmpeg, and waits for its end.
  ///
  /// - Throws: ``FFmpegFailure``; `CancellationError`; ``SystemError``.
  /// - Returns: what it complained of although it went on.
  @discardableResult
  func run(
    _ arguments: [BytePath],
    in folder: BytePath,
    bounds: FFmpegBounds = FFmpegBounds(),
    readers: [CInt: @Sendable (String) -> Void] = [:]
  ) async throws -> Complaints {
    var run = FFmpegRun(program)
    let fixed: [BytePath] = ["-nostdin", "-hide_banner", "-v", "repeat+error", "-y"]
    run.arguments = fixed + arguments
    run.bounds = bounds
    run.readers = readers
    return try await perform(run, in: folder)
  }

  /// Runs a program without a shell and without the environment, reading what it writes to its descriptors.
  func perform(_ run: FFmpegRun, in folder: BytePath) async throws -> Complaints {
    try Task.checkCancellation()
    let complaints = ComplaintLog()
    var streams: [LineStream] = []
    var command = ProcessCommand(
      run.program,
      arguments: run.arguments,
      environment: ["PATH=/usr/bin:/bin", "LC_ALL=C"]
    )
    var readers = run.readers
    readers[2] = { complaints.take($0) }
    for (number, take) in readers {
      let (reading, writing) = try FileDescriptor.pipe()
      command.descriptors[number] = writing
      streams.append(try LineStream(reading, longest: number == 1 ? run.longestLine : 16_384, take))
    }
    command.workingDirectory = folder
    command.limits = run.bounds.limits
    let process = try await SpawnedProcess.spawn(command)
    for writing in command.descriptors.values { try writing.close() }
    process.whileRunning {
      // Advice only: nothing depends on whether it is taken.
      _ = setpriority(CInt(PRIO_PROCESS.rawValue), id_t(process.id), CInt(niceness))
    }
    let status = await withTaskCancellationHandler {
      await process.exit()
    } onCancel: {
      process.signalGroup(SIGKILL)
    }
    for stream in streams { await stream.end() }
    try Task.checkCancellation()
    let said = complaints.complaints
    guard status == .exited(0) else {
      throw FFmpegFailure(
        status: status,
        line: said.reason,
        bounds: run.bounds,
        isOutOfSpace: said.hasNoSpace
      )
    }
    return said
  }
}
