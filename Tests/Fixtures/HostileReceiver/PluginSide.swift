import FoundationEssentials
import Glibc
import LinuxSystem

/// The `plugin` transport's side: reads a line, answers a line.
struct PluginSide {
  let attack: Attack
  private let socket = FileDescriptor(owning: CInt(environmentValue("HANDOFF_FD") ?? "") ?? -1)

  init(attack: Attack) {
    self.attack = attack
  }

  func run(_ behaviour: String) throws {
    if behaviour == "exit" { exit(3) }
    if behaviour == "silent" { ignoreEverything() }
    var partial: [UInt8] = []
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 65_536, alignment: 1)
    var submitted: Request?
    while true {
      let count = try socket.read(into: buffer)
      if count == 0 {
        if behaviour == "ignore" { ignoreEverything() }
        return
      }
      partial += buffer[..<count]
      while let end = partial.firstIndex(of: UInt8(ascii: "\n")) {
        let message = try JSONDecoder().decode(Incoming.self, from: Data(partial[..<end]))
        partial = Array(partial[(end + 1)...])
        try handle(message, behaviour, &submitted)
      }
    }
  }

  private func handle(
    _ message: Incoming,
    _ behaviour: String,
    _ submitted: inout Request?
  ) throws {
    let id = message.id ?? 0
    switch message.method {
    case "discover":
      let versions = behaviour == "old" ? "[1,2]" : "[2,3,4]"
      let capabilities = behaviour == "plain" ? "[]" : "[\"reconcile\",\"probe\",\"cancel\"]"
      try answer(
        id,
        "{\"name\":\"hostile\",\"version\":\"1\",\"protocol_versions\":\(versions),"
          + "\"capabilities\":\(capabilities)}"
      )
    case "submit":
      guard let request = message.params?.request else { return }
      submitted = request
      try submit(request, id, behaviour)
    case "reconcile":
      let handoffs = message.params?.handoffs ?? []
      let known = handoffs.map {
        "{\"handoff_id\":\"\($0.handoffID ?? "")\",\"standing\":\"working\"}"
      }
      try answer(id, "{\"handoffs\":[\(known.joined(separator: ","))]}")
    case "shutdown":
      try answer(id, "{}")
      if behaviour == "ignore" { return }
      exit(0)
    case nil:
      // The answer to asset.resolve, which only this program's own call brings.
      guard let path = message.result?.path, let request = submitted else { return }
      try result(request.state, behaviour == "attack" ? attack.run(on: path) : ["path": path])
    default:
      try send(
        "{\"jsonrpc\":\"2.0\",\"id\":\(id),\"error\":{\"code\":-32601,\"message\":\"unsupported\"}}"
      )
    }
  }

  private func submit(_ request: Request, _ id: Int, _ behaviour: String) throws {
    switch behaviour {
    case "garbage": try send("this is not JSON")
    case "huge": try send(String(repeating: "x", count: 3_000_000))
    case "die":
      try socket.write(Array("{\"jsonrpc\":\"2.0\",\"id\":\(id),\"res".utf8))
      kill(getpid(), SIGKILL)
    case "refuse":
      try send(
        "{\"jsonrpc\":\"2.0\",\"id\":\(id),\"error\":{\"code\":-32000,\"message\":\"no\",\"data\":"
          + "{\"code\":\"unsupported_media\",\"message\":\"no\",\"effect\":\"none\"}}}"
      )
    case "malformed":
      try accept(id)
      try call("handoff.result", "{\"protocol_version\":3,\"state\":\"\(request.state)\"}")
    case "twice":
      try accept(id)
      try result(request.state, ["answer": "1"])
      try result(request.state, ["answer": "2"])
    case "last-words":
      try accept(id)
      try result(request.state, ["answer": "1"])
      exit(0)
    case "flood":
      try accept(id)
      say(String(repeating: "noise \(request.state)\n", count: 100_000), to: 2)
      try result(request.state, [:])
    case "large":
      try accept(id)
      try result(request.state, ["text": String(repeating: "x", count: 20_000)])
    case "talkative":
      try accept(id)
      for number in 1...600 {
        let words = String(repeating: "x", count: 1000)
        try send(
          "{\"jsonrpc\":\"2.0\",\"method\":\"log\",\"params\":{\"level\":\"warning\","
            + "\"message\":\"\(number) \(words)\"}}"
        )
      }
      try result(request.state, [:])
    case "grandchild":
      try accept(id)
      try result(request.state, ["pid": "\(leaveGrandchild())"])
    default:
      try accept(id)
      try send(
        "{\"jsonrpc\":\"2.0\",\"method\":\"handoff.progress\",\"params\":{\"fraction\":0.5,\"state\":\"\(request.state)\"}}"
      )
      try call(
        "asset.resolve",
        "{\"state\":\"\(request.state)\",\"local_identifier\":\"\(request.localIdentifiers[0])\"}"
      )
    }
  }

  private func result(_ state: String, _ output: [String: String]) throws {
    try call("handoff.result", success(state, output))
  }

  private func accept(_ id: Int) throws {
    try answer(id, "{\"accepted\":true}")
  }

  private func answer(_ id: Int, _ result: String) throws {
    try send("{\"jsonrpc\":\"2.0\",\"id\":\(id),\"result\":\(result)}")
  }

  private func call(_ method: String, _ params: String) throws {
    try send("{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"\(method)\",\"params\":\(params)}")
  }

  private func send(_ line: String) throws {
    try socket.write(Array((line + "\n").utf8))
  }
}
