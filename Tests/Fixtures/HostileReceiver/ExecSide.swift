import FoundationEssentials
import Glibc
import LinuxSystem

/// The `exec` transport's side.
struct ExecSide {
  let attack: Attack

  func run(_ behaviour: String) throws {
    let request = try JSONDecoder().decode(
      Request.self,
      from: Data(try FileDescriptor(owning: 0).readAll(limit: 100_000))
    )
    switch behaviour {
    case "attack":
      let report = attack.run(on: environmentValue("HANDOFF_ASSET_1") ?? "/nowhere")
      say(try success(request.state, report) + "\n")
    case "grandchild":
      let pid = try leaveGrandchild()
      say(try success(request.state, ["pid": "\(pid)"]) + "\n")
    case "ignore":
      say("ready\n")
      ignoreEverything()
    case "descriptors":
      let open = (0..<64).filter { fcntl($0, F_GETFD) != -1 }
      say(try success(request.state, ["open": "\(open)"]) + "\n")
    default:
      exit(64)
    }
  }
}
