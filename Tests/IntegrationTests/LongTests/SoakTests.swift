import Glibc
import HandoffProtocol
import HandoffTestSupport
import LinuxSystem
import Paths
import Testing

extension LongTests {
  /// Steady work with receivers that fail in every way: nothing grows, and everything is accounted for.
  @Suite("Soak")
  struct Soak {
    /// How long exports come, and how often what happens.
    struct Pace {
      var length: Duration
      var export: Duration
      var hangUp: Duration
      var crash: Duration
    }

    static let pace =
      isLong
      ? Pace(
        length: .seconds(environmentValue("SOAK_SECONDS").flatMap { Int($0) } ?? 1200),
        export: .milliseconds(500),
        hangUp: .seconds(10),
        crash: .seconds(75)
      )
      : Pace(
        length: .seconds(12),
        export: .milliseconds(250),
        hangUp: .seconds(2),
        crash: .seconds(5)
      )

    @Test(
      "steady work through failing receivers: nothing grows, everything is accounted for",
      .timeLimit(.minutes(isLong ? 60 : 4))
    )
    func soak() async throws {
      let seed = LongTests.seed
      print("soak: seed \(seed)")
      try await Scene.run("", starting: false) { scene in
        let shaky = ShakyReceiver(
          scene: scene,
          seed: seed,
          age: isLong ? 70 : 2,
          lives: isLong ? .max : 2
        )
        try Directory.create(scene.broker.root.appending("out"))
        let script = try scene.script("record", Self.recording)
        let text =
          Self.configuration + Self.exec(script, in: scene.broker.root)
          + (try shaky.configuration())
        try DurableFile.write(Array(text.utf8), to: scene.broker.config)
        try await scene.broker.start()
        let samples = SoakSamples(scene.broker)
        let written = try await Self.work(scene, seed, samples)
        let verdict = SoakVerdict(scene: scene, shaky: shaky, exports: written)
        try await verdict.untilNothingIsOpen()
        let counts = try await verdict.judge(seed)
        samples.judge(seed)
        print("soak: seed \(seed), \(written) exports, \(counts)\nsoak: \(samples)")
      }
    }

    /// Writes exports at their pace, with the signals and crashes between them; returns how many.
    private static func work(
      _ scene: Scene,
      _ seed: UInt64,
      _ samples: SoakSamples
    ) async throws -> Int {
      var random = SeededGenerator(seed: seed)
      let clock = ContinuousClock()
      let start = clock.now
      var (written, hangUps, crashes) = (0, 0, 0)
      // Looks at the broker whenever its time has come; what is awaited is the end of the soak.
      _ = try await poll(within: pace.length, every: .milliseconds(50)) { () -> Bool? in
        let now = start.duration(to: clock.now)
        if now >= pace.export * written {
          let name = BytePath("clip \(written).mp4")
          try scene.place(try await Scene.video(seed << 20 | UInt64(written)), as: name)
          written += 1
          try samples.take()
        }
        if now >= pace.hangUp * (hangUps + 1) {
          hangUps += 1
          try scene.broker.signal(SIGHUP)
        }
        if now >= pace.crash * (crashes + 1) {
          crashes += 1
          let victims = try samples.receivers()
          if let victim = victims.randomElement(using: &random) { kill(victim, SIGKILL) }
        }
        return nil
      }
      print("soak: \(hangUps) hang-ups, \(crashes) receivers killed")
      return written
    }

    /// Appends the digest of each state token: the receiver's own record of what it did.
    private static let recording = """
      sed -n 's/.*"state":"\\([^"]*\\)".*/\\1/p' | sha256sum >> "$1"
      """

    private static func exec(_ script: String, in root: BytePath) -> String {
      """

      [destination.script]
      transport = "exec"
      command = ["\(script)", "\(root.appending("out/script.log"))"]
      write = ["out"]
      containment = "none"

      """
    }

    /// The source goes once it is imported, so that what the broker knows of files does not grow.
    private static let configuration = Scene.configuration(
      // Receivers are killed at random, and nothing is to be given up for that.
      broker: "crash_limit = 0",
      folder: "original = \"remove\"",
      handoff: ["steady", "shaky", "script"],
      destinations: """
        [destination.steady]
        transport = "plugin"
        command = ["counting-receiver"]
        write = ["out"]
        containment = "none"
        [destination.steady.settings]
        log = "./out/steady.log"
        """
    )
  }
}
