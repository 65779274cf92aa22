import Callbacks
import Glibc
import HandoffCore
import HandoffProtocol
import HandoffTestSupport
import LinuxSystem
import Paths
import Testing

/// Callbacks that are programs, good and bad ones.
@Suite("Callback programs", .timeLimit(.minutes(2)))
struct ProgramTests {
  @Test("the notice comes on standard input, as one line of JSON")
  func input() async throws {
    try await CallbackScene.with { scene in
      let notice = try scene.notice(["title": .string("A \"cut\"\nof ü"), "key": .null])
      try await scene.shell("cat > \"$1\"", [scene.path("in").lossyText]).deliver(notice)
      let bytes = try scene.bytes("in")
      #expect(bytes.last == UInt8(ascii: "\n"))
      #expect(bytes.count { $0 == UInt8(ascii: "\n") } == 1)
      let document = try WireCoder.decode([String: JSONValue].self, from: bytes)
      #expect(document["title"]?.text == "A \"cut\"\nof ü")
      #expect(document["notice_id"]?.text == "n7")
      #expect(document["key"] == .null)
    }
  }

  @Test("members fill each argument, never more than one, and no shell sees them")
  func arguments() async throws {
    try await CallbackScene.with { scene in
      let notice = try scene.notice([
        "title": .string("a b; touch \(scene.path("owned")) '{result}' $(id)"),
        "result": .string("success"),
        "local_identifiers": .array([.string("A/L0/001"), .string("B/L0/001")]),
        "path": .string("/e/\u{fffd}.mp4"), "path_bytes": .string("L2Uv/y5tcDQ="),
        "output": .object(["url": .string("https://example.net/1")]),
        "error": .null, "reason": .null,
      ])
      let templates = [
        "{title}", "<{result}>", "{local_identifier}", "{local_identifiers}", "{url}",
        "{reason}{error_code}", "{folder}", "{titel} {} {Title} {title", "{{result}}", "{path}",
      ]
      let delivery = try scene.shell(
        "out=$1; shift; printf '%s\\0' \"$@\" > \"$out\"",
        [scene.path("args").lossyText] + templates
      )
      try await delivery.deliver(notice)
      let given = try scene.bytes("args").split(separator: 0, omittingEmptySubsequences: false)
        .dropLast().map(Array.init)
      #expect(
        given.dropLast().map { String(decoding: $0, as: UTF8.self) } == [
          "a b; touch \(scene.path("owned")) '{result}' $(id)", "<success>", "A/L0/001",
          "A/L0/001 B/L0/001", "https://example.net/1", "", "", "{titel} {} {Title} {title",
          "{success}",
        ]
      )
      #expect(given.last == Array("/e/".utf8) + [0xFF] + Array(".mp4".utf8))
      #expect(try FileStatus.of(scene.path("owned")) == nil)
    }
  }

  @Test("the environment is clean, and the callback is named in it")
  func environment() async throws {
    try await CallbackScene.with { scene in
      try await scene.shell(
        "env > \"$1\"; ls /proc/self/fd > \"$2\"",
        [
          scene.path("env").lossyText, scene.path("fds").lossyText,
        ]
      ).deliver(try scene.notice())
      let names = try scene.text("env").split(separator: "\n")
        .compactMap { $0.split(separator: "=").first.map(String.init) }
      // PWD, OLDPWD, SHLVL and _ are the shell's own.
      #expect(
        Set(names).subtracting(["PWD", "OLDPWD", "SHLVL", "_"])
          == ["HANDOFF_CALLBACK", "HOME", "LANG", "PATH", "TZ"]
      )
      // The listing's own descriptor is the fourth.
      #expect(try scene.text("fds").split(separator: "\n").count <= 4)
    }
  }

  @Test("an exit status other than 0 and a signal are failures that say why")
  func failures() async throws {
    try await CallbackScene.with { scene in
      func reason(_ line: String) async throws -> String {
        let delivery = try scene.shell(line)
        let failure = await #expect(throws: DeliveryFailure.self) {
          try await delivery.deliver(try scene.notice())
        }
        return failure?.reason ?? ""
      }
      let said = try await reason("echo first; echo 'no such host' >&2; exit 3")
      #expect(said.contains("3"))
      #expect(said.hasSuffix("no such host"))
      #expect(try await reason("kill -KILL $$").contains("9"))
      let missing = try scene.delivery(.exec(["no-such-program-here"]))
      let failure = await #expect(throws: DeliveryFailure.self) {
        try await missing.deliver(try scene.notice())
      }
      #expect(failure?.reason.contains("no-such-program-here") == true)
    }
  }

  @Test("a program that reads nothing of a large notice has got it all the same")
  func unread() async throws {
    try await CallbackScene.with { scene in
      let notice = try scene.notice(["reason": .string(String(repeating: "x", count: 300_000))])
      try await scene.shell("exec 0<&-; exit 0").deliver(notice)
      try await scene.shell("sleep 0.1; wc -c > \"$1\"", [scene.path("size").lossyText])
        .deliver(notice)
      #expect(try scene.text("size").hasPrefix("3000"))
    }
  }

  @Test(
    "a program that hangs is ended with all that it started",
    arguments: [
      "echo $$ > \"$1\"; exec sleep 600",
      "trap '' TERM HUP INT; echo $$ > \"$1\"; while :; do sleep 600; done",
      "echo $$ > \"$1\"; kill -STOP $$",
      "echo $$ > \"$1\"; yes; yes >&2",
    ]
  )
  func hanging(line: String) async throws {
    try await CallbackScene.with { scene in
      let delivery = try scene.shell(
        "echo 'looking for the host'; " + line,
        [scene.path("pid").lossyText],
        timeLimit: .milliseconds(700)
      )
      let start = ContinuousClock.now
      let failure = await #expect(throws: DeliveryFailure.self) {
        try await delivery.deliver(try scene.notice())
      }
      #expect(failure?.reason.hasPrefix("it did not end within") == true)
      #expect(start.duration(to: .now) < .seconds(15))
      #expect(try scene.isGone("pid"))
    }
  }

  @Test("a grandchild that keeps the outputs open keeps nobody waiting, and is ended")
  func grandchild() async throws {
    try await CallbackScene.with { scene in
      let delivery = try scene.shell("sleep 600 & echo $! > \"$1\"", [scene.path("pid").lossyText])
      let start = ContinuousClock.now
      try await delivery.deliver(try scene.notice())
      #expect(start.duration(to: .now) < .seconds(15))
      let isGone = try await poll { try scene.isGone("pid") ? true : nil }
      #expect(isGone == true)
    }
  }

  @Test("a flood is read and forgotten")
  func flood() async throws {
    try await CallbackScene.with { scene in
      let line =
        "head -c 1000000 /dev/zero; head -c 1000000 /dev/zero >&2; echo; echo the end; exit 1"
      let delivery = try scene.shell(line)
      let failure = await #expect(throws: DeliveryFailure.self) {
        try await delivery.deliver(try scene.notice())
      }
      #expect(failure?.reason.hasSuffix("the end") == true)
      #expect((failure?.reason.utf8.count ?? 0) < 1000)
    }
  }

  @Test("a broker that stops ends the program, and the notice has not arrived")
  func stopping() async throws {
    try await CallbackScene.with { scene in
      let delivery = try scene.shell(
        "echo $$ > \"$1\"; exec sleep 600",
        [
          scene.path("pid").lossyText
        ]
      )
      let notice = try scene.notice()
      let task = Task { try await delivery.deliver(notice) }
      _ = try await poll { (try? scene.text("pid"))?.isEmpty == false ? true : nil }
      task.cancel()
      await #expect(throws: CancellationError.self) { try await task.value }
      #expect(try scene.isGone("pid"))
    }
  }
}
