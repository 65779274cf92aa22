import FoundationEssentials
import Glibc
import LinuxSystem
import Paths

/// A piece of the messages that this program reads; what it needs of them and no more.
struct Incoming: Decodable {
  struct Parameters: Decodable {
    var request: Request?
    var handoffs: [Parameters]?
    var state: String?
    var handoffID: String?

    enum CodingKeys: String, CodingKey {
      case request
      case handoffs
      case state
      case handoffID = "handoff_id"
    }
  }

  struct Answer: Decodable {
    var path: String?
  }

  var id: Int?
  var method: String?
  var params: Parameters?
  var result: Answer?
}

/// What this program needs of a request.
struct Request: Decodable {
  var state: String
  var localIdentifiers: [String]

  enum CodingKeys: String, CodingKey {
    case state
    case localIdentifiers = "local_identifiers"
  }
}

/// A value as JSON.
func json(_ value: some Encodable) throws -> String {
  let encoder = JSONEncoder()
  encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
  return String(decoding: try encoder.encode(value), as: UTF8.self)
}

/// A success with an output, as JSON.
func success(_ state: String, _ output: [String: String]) throws -> String {
  "{\"protocol_version\":3,\"state\":\"\(state)\",\"result\":\"success\",\"output\":"
    + (try json(output)) + "}"
}

/// Writes to a standard stream.
func say(_ text: String, to stream: CInt = 1) {
  var bytes = Array(text.utf8)[...]
  while !bytes.isEmpty {
    let count = bytes.withUnsafeBytes { write(stream, $0.baseAddress, $0.count) }
    if count <= 0 { return }
    bytes = bytes.dropFirst(count)
  }
}

/// Does nothing for ever, whatever is asked.
func ignoreEverything() -> Never {
  signal(SIGTERM, SIG_IGN)
  signal(SIGHUP, SIG_IGN)
  while true { pause() }
}

/// Leaves a process in a session of its own that holds this one's output, and tells its number.
func leaveGrandchild() throws -> pid_t {
  // The shell makes the grandchild, which then belongs to nobody here.
  var pipes: [CInt] = [-1, -1]
  guard pipe(&pipes) == 0 else { throw SystemError.last("pipe") }
  var actions = posix_spawn_file_actions_t()
  posix_spawn_file_actions_init(&actions)
  posix_spawn_file_actions_adddup2(&actions, pipes[1], 9)
  defer { posix_spawn_file_actions_destroy(&actions) }
  let words = ["/bin/sh", "-c", "setsid sleep 600 9>&- & echo $! >&9"]
  var arguments = words.map { strdup($0) } + [nil]
  defer { for argument in arguments { free(argument) } }
  var pid: pid_t = 0
  let error = posix_spawn(&pid, "/bin/sh", &actions, nil, &arguments, environ)
  guard error == 0 else { throw SystemError(error, "posix_spawn") }
  waitpid(pid, nil, 0)
  close(pipes[1])
  let reading = FileDescriptor(owning: pipes[0])
  let text = String(decoding: try reading.readAll(limit: 100), as: UTF8.self)
  return pid_t(text.split(separator: "\n").first ?? "") ?? -1
}
