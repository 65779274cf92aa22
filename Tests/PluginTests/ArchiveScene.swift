import Glibc
import HandoffProtocol
import HandoffTestSupport
import LinuxSystem
import Paths
import Testing

/// An archive plugin with its folders, and what tests ask of what it keeps.
struct ArchiveScene {
  /// Every step of a walk, not one of three.
  static let isThorough = environmentValue("HANDOFF_LONG") != nil
  static let stride = isThorough ? 1 : 3

  let space: Scratch
  var settings: [String: JSONValue]
  /// The archive's folder.
  var out: BytePath

  init(_ settings: [String: JSONValue] = ["layout": .string("")], folder: BytePath? = nil) throws {
    space = try Scratch()
    self.settings = settings
    out = folder ?? space.out
  }

  var plugin: PluginProcess {
    PluginProcess(
      name: "handoff-archive",
      settings: .object(settings.merging(["folder": .string(out.lossyText)]) { own, _ in own }),
      work: space.work
    )
  }

  func file(_ text: String, _ name: BytePath) throws -> Granted {
    try Granted(Array(text.utf8), named: name, in: space)
  }

  func deliver(
    _ id: String,
    _ file: Granted,
    title: String? = nil,
    attempt: Int = 1
  ) async throws -> HandoffResult.Outcome {
    try await plugin.deliver(
      handoff(id, [file.identifier], title: title, attempt: attempt),
      file.grants
    )
  }

  /// Runs a shell script in the archive's folder and returns what it prints and its exit code.
  func sh(_ script: String) async throws -> (code: Int32, text: String) {
    let output = space.path.appending("sh.txt")
    let status = try await runProgram(
      "/bin/sh",
      ["-c", BytePath("export PATH=/usr/sbin:/usr/bin:/sbin:/bin\n" + script)],
      in: try FileStatus.of(out) == nil ? space.path : out,
      output: output
    )
    let text = try FileDescriptor.open(output, O_RDONLY).readAll(limit: 1 << 20)
    guard case .exited(let code) = status else { return (-1, "\(status)") }
    return (code, String(decoding: text, as: UTF8.self))
  }

  /// Looks at a history as the reference tool does: each generation listed once, with its C4 ID, in order.
  ///
  /// - Returns: the paths of each generation.
  func generations(_ folder: String = ".") async throws -> [String] {
    let script = """
      python3 - '\(folder)' <<'END'
      import hashlib, os, sys, xml.etree.ElementTree as E
      A = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
      d = os.path.join(sys.argv[1], "ascmhl")
      n = lambda t: t.split("}")[-1]
      chain = E.parse(d + "/ascmhl_chain.xml").getroot()
      names = []
      for i, link in enumerate(chain):
          assert int(link.get("sequencenr")) == i + 1, "order"
          name, c4 = (c.text for c in link)
          v, s = int(hashlib.sha512(open(d + "/" + name, "rb").read()).hexdigest(), 16), ""
          while v: v, s = v // 58, A[v % 58] + s
          assert "c4" + s.rjust(88, "1") == c4, "altered"
          names.append(name)
          root = E.parse(d + "/" + name).getroot()
          print(",".join(p.text for p in root.iter() if n(p.tag) == "path"))
      assert sorted(names + ["ascmhl_chain.xml"]) == sorted(os.listdir(d)), os.listdir(d)
      END
      """
    let (code, text) = try await sh(script)
    try #require(code == 0, "\(text)")
    return text.split(separator: "\n").map(String.init)
  }
}
