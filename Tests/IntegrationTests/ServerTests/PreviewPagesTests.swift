import Glibc
import HandoffProtocol
import HandoffTestSupport
import LinuxSystem
import Paths
import Testing

extension ServerTests {
  /// Debian's chromium, by playwright: the pages of the preview plugin, opened from a folder and from a web
  /// server.
  ///
  /// The broker and the plugin are the real ones; what is looked at in the pages is in
  /// `Tests/Fixtures/Browser/previews.py`.
  @Suite("preview pages")
  struct PreviewPages {
    /// Real files of different kinds, all of them short.
    private static let media: [BytePath] = [
      "mp4_one_frame_40ms.mp4", "mov_timecode_track_2997.mov", "mkv_multi_audio_8_subs.mkv",
      "3gp_mpeg4_amr.3gp", "avi_mjpeg_pcm_camera.AVI", "mts_avchd_sony.mts",
      "te[s]t_ video ' _ .flv", "mov_prores422hq.mov", "webm_vp9_opus_1s.webm",
      "mp4_h264_aac_moov_front_smpte.mp4", "mov_location_statue_of_liberty.mov",
      "mp4_fragmented_rot90.mp4",
    ]
    /// A name that would be markup, a comment and an escape, if it were not taken for text.
    private static let title = #"<b>"Ünï" & 'x' <!-- %41#"#

    private static let destination = """
      [destination.preview]
      transport = "plugin"
      command = ["handoff-preview"]
      write = ["preview"]
      concurrency = 2
      [destination.preview.settings]
      folder = "./preview"
      proxy_height = 360
      nice = 0

      """

    @Test("real previews in a real browser", .timeLimit(.minutes(15)))
    func browser() async throws {
      let tools = try await Self.tools()
      let configuration = Scene.configuration(
        handoff: ["preview"],
        destinations: Self.destination
      )
      try await Scene.run(configuration, starting: false) { scene in
        // A contained plugin is shown only a folder that is there.
        try Directory.create(scene.broker.root.appending("preview"))
        try await scene.broker.start()
        var names = try await Self.generate(scene)
        if let folder = CollectedMedia.folder(for: "real files in the browser") {
          for name in Self.media {
            try scene.write(try bytes(folder.appending(name)), to: name)
            names.append(name)
          }
        }
        for name in names { _ = try await scene.identifier(of: name) }
        let handoffs = try await scene.broker.wait("handoffs", within: .seconds(600)) { all in
          all.elements.count == names.count
            && all.elements.allSatisfy { ["succeeded", "failed"].contains($0["status"]?.text) }
        }
        for handoff in handoffs.elements {
          #expect(handoff["status"]?.text == "succeeded", "\(handoff)")
        }
        let script = BytePath(#filePath).parent.parent.parent
          .appending("Fixtures/Browser/previews.py")
        let previews = scene.broker.root.appending("preview")
        let browser = try await scene.spawn(
          [tools.appending("python"), script, previews, BytePath(Self.title)]
        )
        let ended = await browser.exit()
        let said = try scene.serverLog()
        #expect(ended == .exited(0), "\(said)")
      }
    }

    /// Where playwright is.
    private static func tools() async throws -> BytePath {
      let package = BytePath(#filePath).parent.parent.parent.parent
      return try await withTemporaryDirectory { folder in
        let answer = folder.appending("answer")
        var command = ProcessCommand(package.appending(".ci/python"), arguments: ["browser"])
        command.environment = [BytePath("PATH=\(environmentValue("PATH") ?? "/usr/bin:/bin")")]
        command.descriptors[1] = try FileDescriptor.open(answer, O_WRONLY | O_CREAT)
        let ended = await (try SpawnedProcess.spawn(command)).exit()
        try #require(ended == .exited(0), ".ci/python browser")
        return BytePath(try ServerTests.bytes(answer).filter { $0 != UInt8(ascii: "\n") })
      }
    }

    /// A clip with a drop-frame timecode and a black stretch, and an upright one without sound.
    private static func generate(_ scene: Scene) async throws -> [BytePath] {
      try await scene.sh(
        """
        ffmpeg -nostdin -v error -y -f lavfi -i testsrc2=s=640x360:r=30000/1001:d=12 \
        -f lavfi -i sine=f=220:d=12 -vf \
        "drawbox=c=black:t=fill:enable='between(t,4,6.5)'" -timecode '00:59:55;00' \
        -c:v libx264 -preset ultrafast -c:a aac -shortest clip.mov
        ffmpeg -nostdin -v error -y -f lavfi -i testsrc2=s=180x320:r=25:d=2 \
        -c:v libx264 -preset ultrafast upright.mp4
        """
      )
      let names = [BytePath("\(title).mov"), "upright.mp4"]
      for (source, name) in zip(["clip.mov", "upright.mp4"] as [BytePath], names) {
        try scene.write(try bytes(scene.broker.root.appending(source)), to: name)
      }
      return names
    }
  }
}
