import Glibc
import LinuxSystem
import Paths

/// Tries everything that containment must deny, and tells what came of each try.
struct Attack {
  /// What to attack: `ledger`, `socket` (paths), `port`, `pid`.
  private let targets: [String: String]

  init(_ arguments: some Sequence<String>) {
    var targets: [String: String] = [:]
    for argument in arguments {
      let parts = argument.split(separator: "=", maxSplits: 1).map(String.init)
      if parts.count == 2 { targets[parts[0]] = parts[1] }
    }
    self.targets = targets
  }

  /// "succeeded", or the reason why not, by name of the try.
  func run(on asset: String) -> [String: String] {
    let work = environmentValue("HANDOFF_WORK") ?? "/nowhere"
    let ledger = targets["ledger"] ?? "/nowhere/ledger.db"
    let grants = BytePath(asset).parent.lossyText
    let pid = pid_t(targets["pid"] ?? "") ?? 1
    return [
      "read_asset": opening(asset, O_RDONLY),
      "write_work": opening(work + "/note", O_WRONLY | O_CREAT),
      "read_ledger": opening(ledger, O_RDONLY),
      "list_state": opening(BytePath(ledger).parent.lossyText, O_RDONLY | O_DIRECTORY),
      "write_asset": opening(asset, O_WRONLY),
      "chmod_asset": told(chmod(asset, 0o666)),
      "unlink_asset": told(unlink(asset)),
      "fchmod_asset": throughDescriptor(asset),
      "add_grant": opening(grants + "/more", O_WRONLY | O_CREAT),
      "write_system": opening("/usr/handoff-test", O_WRONLY | O_CREAT),
      "read_passwords": opening("/etc/shadow", O_RDONLY),
      "make_device": told(mknod(work + "/disk", S_IFBLK | 0o600, 0x0801)),
      "connect_network": connecting(UInt16(targets["port"] ?? "") ?? 1),
      "connect_socket": connecting(to: targets["socket"] ?? "/nowhere/socket"),
      "signal_broker": told(kill(pid, 0)),
      "see_broker": told(access("/proc/\(pid)/cmdline", F_OK)),
    ]
  }

  private func told(_ value: CInt) -> String {
    value == -1 ? SystemError.last("").reason : "succeeded"
  }

  private func opening(_ path: String, _ flags: CInt) -> String {
    do {
      _ = try FileDescriptor.open(BytePath(path), flags)
      return "succeeded"
    } catch {
      return error.reason
    }
  }

  /// By way of an own descriptor, which path-based rules do not stop.
  private func throughDescriptor(_ path: String) -> String {
    do {
      let file = try FileDescriptor.open(BytePath(path), O_RDONLY)
      if fchmod(file.rawValue, 0o666) == 0 { return "succeeded" }
      return opening("/proc/self/fd/\(file.rawValue)", O_WRONLY)
    } catch {
      return error.reason
    }
  }

  private func connecting(_ port: UInt16) -> String {
    let number = socket(AF_INET, CInt(SOCK_STREAM.rawValue), 0)
    guard number >= 0 else { return SystemError.last("socket").reason }
    let descriptor = FileDescriptor(owning: number)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    let size = socklen_t(MemoryLayout<sockaddr_in>.size)
    let outcome = withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        connect(descriptor.rawValue, $0, size)
      }
    }
    return told(outcome)
  }

  private func connecting(to path: String) -> String {
    do {
      _ = try UnixSocket.connect(BytePath(path))
      return "succeeded"
    } catch {
      return error.reason
    }
  }
}
