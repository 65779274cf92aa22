import Glibc
import HandoffProtocol
import HandoffTestSupport
import LinuxSystem
import Paths
import Testing

/// A plugin in Python that accepts every request and then does what the test orders, whatever that is.
///
/// The orders go through a FIFO in its work folder; beside it lie the tokens that it was given and, one
/// line for each, what the broker answered to its calls: the call's id, `ok` or the error's code, and
/// the seconds that the answer took.
struct ObedientPlugin {
  let work: BytePath

  /// Waits until the plugin of a destination takes orders.
  init(_ name: String, _ scene: Scene) async throws {
    work = scene.broker.root.appending("state/work").appending(BytePath(name))
    let fifo = work.appending("orders")
    let isThere = try await poll { try FileStatus.of(fifo) != nil ? true : nil }
    try #require(isThere == true, "the plugin does not take orders")
  }

  /// A request that it was given: the broker's name for the handoff, and the token.
  struct Given: Hashable {
    let handoff: String
    let token: String
  }

  /// One answer of the broker.
  struct Answer {
    let id: String
    let verdict: String
    let seconds: Double
  }

  /// Every request so far, each once, in the order that they came.
  var given: [Given] {
    get throws {
      var seen: Set<Given> = []
      return try lines("tokens").compactMap { words in
        let given = Given(handoff: words[0], token: words[1])
        return seen.insert(given).inserted ? given : nil
      }
    }
  }

  var answers: [Answer] {
    get throws {
      try lines("answers").map {
        Answer(id: $0[0], verdict: $0[1], seconds: Double($0[2]) ?? .infinity)
      }
    }
  }

  /// Waits until it has so many requests.
  func given(_ count: Int) async throws -> [Given] {
    let found = try await poll(within: .seconds(60)) {
      let given = try given
      return given.count >= count ? given : nil
    }
    let count = try given.count
    return try #require(found, "only \(count) requests")
  }

  /// Waits for the answers to some calls, whose ids begin so.
  func answers(_ prefix: String, _ count: Int) async throws -> [Answer] {
    let found = try await poll(within: .seconds(60)) {
      let answers = try answers.filter { $0.id.hasPrefix(prefix) }
      return answers.count >= count ? answers : nil
    }
    let count = try answers.count
    return try #require(found, "only \(count) answers")
  }

  func order(_ what: String, _ id: String, _ more: [String: JSONValue]) throws {
    let members: [String: JSONValue] = ["do": .string(what), "id": .string(id)]
    let order = JSONValue.object(members.merging(more) { $1 })
    let line = try WireCoder.encode(order) + [UInt8(ascii: "\n")]
    let fifo = try FileDescriptor.open(work.appending("orders"), O_WRONLY)
    try fifo.write(line)
    try fifo.close()
  }

  /// Sends a result and returns what the broker made of it.
  func report(_ id: String, _ document: JSONValue) async throws -> String {
    try order("result", id, ["document": document])
    return try #require(try await answers(id, 1).first).verdict
  }

  /// A result document.
  static func result(
    _ token: String,
    _ word: String = "success",
    _ more: [String: JSONValue] = [:]
  ) -> JSONValue {
    var members: [String: JSONValue] = [
      "protocol_version": .integer(3), "state": .string(token), "result": .string(word),
    ]
    if word == "failure" {
      members["error"] = .object([
        "code": .string("receiver_failed"), "message": .string("no"), "effect": .string("applied"),
      ])
    }
    return .object(members.merging(more) { $1 })
  }

  private func lines(_ name: BytePath) throws -> [[String]] {
    guard try FileStatus.of(work.appending(name)) != nil else { return [] }
    let file = try FileDescriptor.open(work.appending(name), O_RDONLY)
    let text = String(decoding: try file.readAll(limit: 1 << 26), as: UTF8.self)
    // The last line may not be whole yet.
    return text.split(separator: "\n", omittingEmptySubsequences: false).dropLast().map { line in
      line.split(separator: " ").map(String.init)
    }
  }

  /// Runs a test on a broker with some such plugins.
  static func run(
    _ names: [String],
    settings: String = "concurrency = 1000",
    more: String = "",
    _ body: nonisolated(nonsending) (Scene) async throws -> Void
  ) async throws {
    try await Scene.run("", starting: false) { scene in
      let program = scene.broker.root.appending("obedient.py")
      try DurableFile.write(Array(Self.program.utf8), to: program, permissions: 0o755)
      let destinations = names.map { name in
        """
        [destination.\(name)]
        transport = "plugin"
        command = ["python3", "\(program)"]
        containment = "none"
        \(settings)

        """
      }
      let text = Scene.configuration(destinations: destinations.joined() + more)
      try DurableFile.write(Array(text.utf8), to: scene.broker.config)
      try await scene.broker.start()
      try await body(scene)
    }
  }
}
