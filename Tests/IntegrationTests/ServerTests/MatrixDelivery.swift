import Glibc
import HandoffProtocol
import HandoffTestSupport
import LinuxSystem
import Paths
import Testing

/// One video for one room, brought there by a plugin whose broker is the test.
struct MatrixDelivery: Sendable {
  /// The requests of an undisturbed delivery to a room that is named by its id: two for the limits, four
  /// looks at account and room, two for the upload, five looks, and the message.
  static let requests = 14
  /// Which of them is the upload.
  static let upload = 8

  let poster: MatrixUser
  let room: String
  let scratch: Scratch
  let video: [UInt8]
  let file: Granted
  let plugin: PluginUnderTest

  /// A new room, and a plugin that has done nothing.
  init(
    _ poster: MatrixUser,
    video: [UInt8]? = nil,
    server: String? = nil,
    room given: String? = nil,
    interval: Double = 0.2
  ) async throws {
    self.poster = poster
    if let given {
      room = given
    } else {
      room = try await poster.room()
    }
    scratch = try Scratch()
    self.video = video ?? .pattern(7, count: 30_000)
    file = try Granted(self.video, named: "clip.mp4", in: scratch)
    plugin = PluginUnderTest(
      name: "handoff-social",
      settings: .object([
        "platform": .string("matrix"), "server": .string(server ?? poster.synapse.url),
        "room": .string(room), "token_env": .string("TOKEN"), "poll_interval_s": .number(interval),
        "in_flight_s": .number(0.5),
      ]),
      work: scratch.work,
      environment: ["TOKEN=\(poster.token)"]
    )
  }

  /// Another process of the plugin, with another token of the account.
  func plugin(with user: MatrixUser) -> PluginUnderTest {
    PluginUnderTest(
      name: plugin.name,
      settings: plugin.settings,
      work: plugin.work,
      environment: ["TOKEN=\(user.token)"]
    )
  }

  func submission(attempt: Int = 1) -> SubmitParameters {
    HandoffTestSupport.submission("h", [file.identifier], title: "Clip", attempt: attempt)
  }

  /// Delivers, and is killed at a point.
  func die(at fault: String) async throws {
    await #expect(throws: BrokerGaveUp.self) {
      try await plugin.run(fault: fault) { broker, _ in
        try await begin(broker)
        return try await broker.nextResult()
      }
    }
  }

  /// Another attempt, as after a crash.
  func again(
    _ plugin: PluginUnderTest? = nil,
    attempt: Int = 2
  ) async throws -> HandoffResult.Outcome {
    try await (plugin ?? self.plugin).deliver(submission(attempt: attempt), file.grants)
  }

  func begin(_ broker: TestBroker) async throws {
    for (identifier, asset) in file.grants { broker.grant(identifier, asset) }
    let answer: SubmitAnswer = try await broker.ask(.submit, submission())
    #expect(answer.accepted)
  }

  /// The room shows the video once, whole, and that is what the outcome says.
  func expectOne(_ outcome: HandoffResult.Outcome, _ comment: Comment = "") async throws {
    let videos = try await poster.videos(in: room)
    #expect(videos.count == 1, comment)
    let event = try #require(videos.first)
    #expect(outcome.output?["id"]?.text == event["event_id"]?.text, "\(comment) \(outcome)")
    let uri = try #require(event["content"]?["url"]?.text)
    #expect(try await poster.download(uri) == video, comment)
  }
}

/// A process that a fault has stopped.
enum StoppedProcess {
  /// Waits until a process is stopped.
  static func wait(for id: Int32) async throws {
    let isStopped = try await poll(every: .milliseconds(2)) { state(id) == "T" ? true : nil }
    try #require(isStopped == true, "the process does not stop")
  }

  /// Whether a descendant of a process is stopped.
  static func isBelow(_ ancestor: Int32) throws -> Bool {
    for entry in try Directory.entries(of: "/proc") {
      guard let id = Int32(entry.name.lossyText), state(id) == "T" else { continue }
      var parent = id
      while parent > 1 {
        if parent == ancestor { return true }
        parent = fields(parent).flatMap { $0.count > 1 ? Int32($0[1]) : nil } ?? 0
      }
    }
    return false
  }

  private static func state(_ id: Int32) -> Substring? { fields(id)?.first }

  /// State, parent and so on; nil where the process has gone.
  private static func fields(_ id: Int32) -> [Substring]? {
    guard
      let bytes = try? FileDescriptor.open(BytePath("/proc/\(id)/stat"), O_RDONLY)
        .readAll(limit: 4096)
    else { return nil }
    let text = String(decoding: bytes, as: UTF8.self)
    guard let end = text.lastIndex(of: ")") else { return nil }
    return text[text.index(after: end)...].split(separator: " ")
  }
}
