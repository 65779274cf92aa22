import Glibc
import HandoffProtocol
import HandoffTestSupport
import LinuxSystem
import Paths
import Testing

/// What the kernel sees of a commit: the release broker under strace.
@Suite("Cases: what is acknowledged is on the disk")
struct DurabilityCases {
  @Test(
    "Case 78: a sync call follows the commit of a token use before its acknowledgement is sent",
    .timeLimit(.minutes(4))
  )
  func syncBeforeAnswer() async throws {
    guard await shell("command -v strace >/dev/null") == 0 else {
      print("skipped: there is no strace tool")
      return
    }
    try await ObedientPlugin.run(["plug"]) { scene in
      let count = 10
      let asset = try await scene.importedAsset(1)
      _ = try await scene.sendMany(count, asset, to: "plug")
      let plugin = try await ObedientPlugin("plug", scene)
      let given = try await plugin.given(count)
      let trace = try await Trace(scene)
      for (index, one) in given.enumerated() {
        #expect(try await plugin.report("sync\(index)", ObedientPlugin.result(one.token)) == "ok")
      }
      let calls = try await trace.end()
      for index in 0..<count {
        let asked = try #require(calls.first { $0.brings("sync\(index)") }, "no question \(index)")
        let answer = try #require(calls.first { $0.answers("sync\(index)") }, "no answer \(index)")
        let write = try #require(
          calls.first { $0.writesLog && $0.start > asked.end },
          "the token use \(index) was not written"
        )
        let sync = calls.first { $0.syncsLog && $0.start > write.end && $0.end < answer.start }
        #expect(sync != nil, "the answer to \(index) was sent before the log was synced")
      }
    }
  }
}

/// The system calls of a running broker.
private struct Trace {
  /// One call, with the lines of the trace in which it began and ended.
  struct Call {
    let start: Int
    let end: Int
    let text: String

    /// A message that came with an id.
    func brings(_ id: String) -> Bool {
      isOf(["read", "recvfrom", "recvmsg"]) && text.contains("\\\"\(id)\\\"")
        && text.contains("handoff.result")
    }

    func answers(_ id: String) -> Bool {
      isOf(["write", "sendto", "sendmsg"]) && text.contains("\\\"\(id)\\\"")
        && !text.contains("handoff.result")
    }

    var writesLog: Bool { isOf(["pwrite64"]) && text.contains("ledger.db-wal>") }
    var syncsLog: Bool {
      isOf(["fdatasync", "fsync"]) && text.contains("ledger.db-wal>") && text.hasSuffix("= 0")
    }

    private func isOf(_ names: [String]) -> Bool { names.contains { text.hasPrefix($0 + "(") } }
  }

  private let file: BytePath
  private let process: Int32

  init(_ scene: Scene) async throws {
    file = scene.broker.root.appending("trace")
    let broker = try #require(scene.broker.processID)
    let calls = "pwrite64,fsync,fdatasync,write,sendto,sendmsg,read,recvfrom,recvmsg"
    try await scene.sh(
      ": > strace.log; (exec strace -f -y -s 400 -e trace=\(calls) -p \(broker) -o trace 2>strace.log) & "
        + "echo $! > strace.pid"
    )
    let pid = try FileDescriptor.open(scene.broker.root.appending("strace.pid"), O_RDONLY)
      .readAll(limit: 64)
    process = try #require(Int32(String(decoding: pid, as: UTF8.self).filter(\.isNumber)))
    let log = scene.broker.root.appending("strace.log")
    let isAttached = try await poll {
      let text = try FileDescriptor.open(log, O_RDONLY).readAll(limit: 1 << 20)
      return String(decoding: text, as: UTF8.self).contains("attached") ? true : nil
    }
    try #require(isAttached == true, "strace did not attach")
  }

  /// Ends it.
  func end() async throws -> [Call] {
    // It writes line by line, and what it traced goes on without it; SIGTERM it may have inherited as blocked.
    // It is nobody's child, so what is left of it may stay for as long as the machine likes.
    let status = "/proc/\(process)/status"
    let line = "while grep -qs '^State:[[:space:]]*[^Z]' \(status); do sleep 0.05; done"
    _ = await shell("kill -KILL \(process); \(line)")
    let bytes = try FileDescriptor.open(file, O_RDONLY).readAll(limit: 1 << 28)
    return Self.calls(String(decoding: bytes, as: UTF8.self))
  }

  /// A call during which another thread made one stands in two lines.
  private static func calls(_ trace: String) -> [Call] {
    var calls: [Call] = []
    var open: [Substring: (start: Int, text: String)] = [:]
    for (index, line) in trace.split(separator: "\n").enumerated() {
      guard let space = line.firstIndex(of: " ") else { continue }
      let thread = line[..<space]
      let text = line[space...].drop { $0 == " " }
      if text.hasSuffix("<unfinished ...>") {
        open[thread] = (index, String(text.dropLast("<unfinished ...>".count)))
      } else if text.hasPrefix("<... "), let begun = open.removeValue(forKey: thread),
        let rest = text.firstIndex(of: ">")
      {
        let whole = begun.text + text[text.index(after: rest)...]
        calls.append(Call(start: begun.start, end: index, text: whole))
      } else {
        calls.append(Call(start: index, end: index, text: String(text)))
      }
    }
    return calls.sorted { $0.start < $1.start }
  }
}
