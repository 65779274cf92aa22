import DropFolders
import Glibc
import HandoffCore
import HandoffLog
import HandoffProtocol
import LinuxSystem
import Paths

/// Runs a real watcher on one folder, in a process of its own, because libinotifytools is one a process.
///
///     watch-fixture DROP CONTROL [quiet=MS] [quiet_poll=MS] [give_up=MS] [poll=MS] [brief=1]
///         [watch=HOW] [also=DROP] [proof=PROOF] [existing=ignore] [nested=NAME] [package=1]
///         [prefer=EXTENSION] [prefer_wait=MS]
///
/// `also` names a further drop folder with the same settings.
/// Prints one line of JSON for each change, and with `brief` only for imports. Lines on standard input are questions: `folders`,
/// `report HEX`, `judge HEX`. It ends when standard input does.
@main
enum WatchFixture {
  @concurrent
  static func main() async throws {
    try SignalMask.blockAtStart()
    let arguments = CommandLine.arguments
    guard arguments.count >= 3 else { throw FixtureError("two folders are needed") }
    var settings = DropFolderSettings(path: BytePath(arguments[1]))
    for argument in arguments.dropFirst(3) { try apply(argument, to: &settings) }
    let others = arguments.filter { $0.hasPrefix("also=") }.map { argument in
      var other = settings
      other.path = BytePath(String(argument.dropFirst("also=".count)))
      return other
    }
    let folders = [settings] + nested(arguments, in: settings) + others
    let isBrief = arguments.contains("brief=1")
    let output = JSONLines()
    let stand = StandIn()
    let watcher = DropFolderWatcher(
      folders: folders,
      control: BytePath(arguments[2]),
      keeper: try await LeaseKeeper(),
      firstSeen: [settings.path: wallClock()],
      surroundings: DropFolderWatcher.Surroundings(
        probe: stand.probe,
        known: stand.known,
        importer: stand.take,
        packager: { arrival in
          output.write(arrival)
          return .recorded
        },
        observer: { if !isBrief || $0.state == .imported { output.write($0) } },
        now: wallClock
      ),
      logger: Logger(threshold: .warning) { output.write($0) }
    )
    try await withThrowingTaskGroup { group in
      group.addTask { try await watcher.run() }
      group.addTask { try await answer(watcher, output) }
      if await watcher.started() { output.write(["event": .string("started")]) }
      try await group.next()
      group.cancelAll()
      try await group.waitForAll()
    }
    output.write(["event": .string("ended")])
  }

  private static func apply(
    _ argument: String,
    to settings: inout DropFolderSettings
  ) throws {
    let parts = argument.split(separator: "=", maxSplits: 1)
    switch parts.first {
    case "nested", "also": return
    case "watch":
      settings.watch = DropFolderSettings.Watch(rawValue: String(parts[1])) ?? .auto
      return
    case "prefer":
      settings.prefer = parts.dropFirst().map(String.init)
      return
    case "proof":
      settings.proof = DropFolderSettings.Proof(rawValue: String(parts[1])) ?? .auto
      return
    case "existing":
      settings.existing = DropFolderSettings.Existing(rawValue: String(parts[1])) ?? .import
      return
    default: break
    }
    guard parts.count == 2, let milliseconds = Int(parts[1]) else {
      throw FixtureError("not a setting: \(argument)")
    }
    let time: Duration = .milliseconds(milliseconds)
    switch parts[0] {
    case "quiet": settings.quiet = time
    case "quiet_poll": settings.quietPoll = time
    case "give_up": settings.giveUp = time
    case "brief": break
    case "package": settings.package = true
    case "prefer_wait": settings.preferWait = time
    case "poll": settings.pollInterval = time
    default: throw FixtureError("not a setting: \(argument)")
    }
  }

  /// A drop folder inside the other, which takes nothing of what it holds but the quiet period.
  private static func nested(
    _ arguments: [String],
    in outer: DropFolderSettings
  ) -> [DropFolderSettings] {
    arguments.filter { $0.hasPrefix("nested=") }.map { argument in
      var inner = DropFolderSettings(path: outer.path.appending(String(argument.dropFirst(7))))
      inner.quiet = outer.quiet
      return inner
    }
  }

  private static let wallClock: @Sendable () -> Timestamp = {
    var time = timespec()
    clock_gettime(CLOCK_REALTIME, &time)
    return Timestamp(milliseconds: Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000)
  }

  private static func answer(_ watcher: DropFolderWatcher, _ output: JSONLines) async throws {
    let input = FileDescriptor(owning: 0)
    var framer = LineFramer()
    var buffer = [UInt8](repeating: 0, count: 4096)
    while true {
      try await EventLoop.process.readable(input)
      let count = try buffer.withUnsafeMutableBytes { try input.read(into: $0) }
      if count == 0 { return }
      for line in try framer.append(buffer[..<count]) {
        let words = String(decoding: line, as: UTF8.self).split(separator: " ")
        let path = BytePath(words.count > 1 ? [UInt8](hexDigits: String(words[1])) ?? [] : [])
        switch words.first {
        case "folders": output.write(await watcher.folders())
        case "report": output.write(await watcher.explained(path), path)
        case "judge":
          output.write(["event": .string("judge"), "found": .bool(try await judge(path, watcher))])
        default: throw FixtureError("not a question")
        }
      }
    }
  }
}

extension WatchFixture {
  private static func judge(_ path: BytePath, _ watcher: DropFolderWatcher) async throws -> Bool {
    switch try await watcher.judgeAgain(path) {
    case .begun: true
    case .misnamed, .missing, .outside, .offline: false
    }
  }
}

struct FixtureError: Error {
  let text: String

  init(_ text: String) {
    self.text = text
  }
}
