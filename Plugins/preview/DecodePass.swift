import LinuxSystem
import Paths
import Synchronization

/// The one time that the whole file is decoded: proxy, storyboard and all that is measured come from it
/// together.
struct DecodePass: Sendable {
  static let proxy = "proxy.mp4"

  let source: Source
  let ffmpeg: FFmpeg
  let settings: PreviewSettings
  let graph: DecodeGraph
  /// Where the files go.
  let folder: BytePath

  init(
    _ source: Source,
    settings: PreviewSettings,
    ffmpeg: FFmpeg,
    features: FFmpegFeatures,
    folder: BytePath
  ) {
    self.source = source
    self.settings = settings
    self.ffmpeg = ffmpeg
    self.folder = folder
    graph = DecodeGraph(source: source, settings: settings, features: features)
  }

  /// Runs it, and tells the part that is done and what is being done.
  ///
  /// - Throws: ``FFmpegFailure``; `CancellationError`; `SystemError`.
  /// - Returns: what was measured.
  func run(_ progress: @Sendable (Double, String) async -> Void) async throws -> PassReadings {
    let readings = PassReadings(pieceLength: graph.pieceLength)
    let (times, told) = AsyncStream.makeStream(
      of: Double.self,
      bufferingPolicy: .bufferingNewest(1)
    )
    let complaints = try await withThrowingTaskGroup(of: Complaints.self) { group in
      group.addTask {
        defer { told.finish() }
        return try await ffmpeg.run(
          arguments,
          in: folder,
          bounds: bounds,
          readers: [
            4: { line in if let time = readings.takePicture(line) { told.yield(time) } },
            5: { readings.takeTile($0) },
            6: { line in readings.sound.withLock { $0.takePiece(line) } },
            7: { line in readings.sound.withLock { $0.takeLoudness(line) } },
          ]
        )
      }
      let started = ContinuousClock.now
      for await time in times {
        let told = Speed(done: time, of: source.duration, in: ContinuousClock.now - started)
        await progress(
          told.fraction,
          (settings.proxy ? "making the proxy" : "measuring") + told.text
        )
      }
      return try await group.next() ?? Complaints()
    }
    guard readings.picture.withLock({ $0.frameCount }) > 0 else {
      throw FFmpegFailure(status: .exited(0), line: complaints.first ?? "no picture in the file")
    }
    readings.complaints.withLock { $0 = complaints }
    return readings
  }

  /// By the length, so that a long video may take its time and a hostile short one may not.
  private var bounds: FFmpegBounds {
    let seconds = UInt64(min(source.duration ?? guessed, 1e6).rounded(.up))
    let bytesPerSecond = settings.proxyBitrate.map { UInt64($0) * 250 } ?? 8 << 20
    return FFmpegBounds(
      cpuSeconds: 900 + seconds * UInt64(settings.cpuFactor),
      fileSize: 64 << 20 + seconds * (bytesPerSecond + 65_536)
    )
  }

  /// Seconds where nobody knows them: at a very low rate, and six hours at most.
  private var guessed: Double { min(21_600, max(60, Double(source.bytes) / 20_000)) }

  private var arguments: [BytePath] {
    ffmpeg.input(source.path)
      + ffmpeg.limit("-filter_complex_threads")
      + ["-filter_complex", BytePath(graph.text), "-max_muxing_queue_size", "9999"]
      + (settings.proxy ? proxyOutput : [])
      + graph.measured.flatMap { ["-map", BytePath($0), "-fps_mode", "passthrough"] + discard }
      + graph.heard.flatMap { ["-map", BytePath($0)] + discard }
      + (graph.storyboard == nil ? [] : sheets)
  }

  private var discard: [BytePath] { ["-f", "null", "-"] }

  private var proxyOutput: [BytePath] {
    var output: [BytePath] = ["-map", BytePath(DecodeGraph.proxyPicture)]
    if graph.hasSound { output += ["-map", BytePath(DecodeGraph.proxySound)] }
    output += [
      "-c:v", "libx264", "-preset", "veryfast", "-crf", BytePath("\(settings.proxyQuality)"),
      "-profile:v", "high", "-pix_fmt", "yuv420p", "-force_key_frames", "expr:gte(t,n_forced*2)",
    ]
    if let rate = settings.proxyBitrate {
      output += ["-maxrate", BytePath("\(rate)k"), "-bufsize", BytePath("\(rate * 2)k")]
    }
    output += ["-c:a", "aac", "-b:a", "128k"] + ffmpeg.limit("-threads")
    output += [
      "-map_metadata", "-1", "-map_chapters", "-1", "-movflags", "+faststart", "-f", "mp4",
    ]
    return output + [BytePath(Self.proxy)]
  }

  private var sheets: [BytePath] {
    [
      "-map", BytePath(DecodeGraph.tiles), "-fps_mode", "passthrough", "-frames:v",
      BytePath("\(Storyboard.mostSheets)"), "-q:v",
      "4", "-f", "image2", BytePath(Storyboard.pattern),
    ]
  }
}

/// How fast the work goes: `, 2.3x, 1 min left`.
private struct Speed {
  let fraction: Double
  let text: String

  init(done time: Double, of duration: Double?, in elapsed: Duration) {
    let seconds = Double(elapsed.components.seconds) + Double(elapsed.components.attoseconds) / 1e18
    let speed = seconds > 0 ? time / seconds : 0
    fraction = duration.map { min(1, max(0, time / $0)) } ?? 0
    guard speed > 0.01 else {
      text = ""
      return
    }
    let tenths = Int(min(speed, 1e6) * 10)
    var text = ", \(tenths / 10).\(tenths % 10)x"
    if let duration, duration > time {
      let left = Int(min((duration - time) / speed, 1e7).rounded(.up))
      text += left < 90 ? ", \(left) s left" : ", \((left + 59) / 60) min left"
    }
    self.text = text
  }
}
