import Digests
import Glibc
import HandoffProtocol
import LinuxSystem
import Paths

extension LongTests.Torture {
  /// The evidence, for a fault that has a path.
  static func why(_ fault: TortureVerdict.Fault, _ scene: Scene) async throws -> String {
    guard !fault.path.isEmpty else { return "" }
    let ended = try await scene.broker.command(["why", BytePath(fault.path)])
    return "\n" + String(decoding: ended.output, as: UTF8.self) + ended.errors
  }

  /// Each object holds what its name says.
  static func checkObjects(
    _ scene: Scene,
    _ assets: JSONValue,
    _ verdict: inout TortureVerdict
  ) async throws {
    let objects = scene.broker.root.appending("library/objects")
    for asset in assets.elements {
      let digest = asset["sha256"]?.text ?? ""
      let path = objects.appending(String(digest.prefix(2))).appending(digest)
      let bytes = try FileDescriptor.open(path, O_RDONLY).readAll(limit: 1 << 26)
      let found = try SHA256.digest(of: bytes).map { String(Int($0) + 256, radix: 16).suffix(2) }
        .joined()
      if found != digest { verdict.add("an object that is not what its name says", path.lossyText) }
    }
  }

  /// What was never whole is shown with a reason; what a killed writer left of a format without an end
  /// mark is counted by state.
  static func checkRest(
    _ scene: Scene,
    _ truth: TruthLog,
    _ verdict: inout TortureVerdict
  ) async throws -> String {
    for version in truth.leftIncomplete {
      let why = try await scene.broker.json("why", BytePath(version.path))
      let isHeld = ["incomplete", "refused"].contains(why["state"]?.text ?? "")
      if !isHeld || why["reason"]?.text?.isEmpty != false {
        verdict.add("never whole, and not shown as such", version.path)
      }
    }
    var states: [String: Int] = [:]
    for version in truth.unprovable {
      let why = try await scene.broker.json("why", BytePath(version.path))
      states[why["state"]?.text ?? "", default: 0] += 1
    }
    return states.sorted { $0.key < $1.key }.map { "\($0.value) \($0.key)" }.joined(separator: ", ")
  }
}
