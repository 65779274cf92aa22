import Destinations
import Glibc
import HandoffCore
import HandoffLog
import HandoffProtocol
import HandoffTestSupport
import LinuxSystem
import Paths
import Testing

@Suite("An exec receiver", .timeLimit(.minutes(1)))
struct ExecReceiverTests {
  private func deliver(
    _ line: String,
    contained: Bool = false,
    _ change: (inout DestinationSettings) -> Void = { _ in }
  ) async throws -> HandoffResult {
    var result: HandoffResult?
    try await Surroundings.with(containment: contained) { surroundings in
      let receiver = try surroundings.shell(line, change)
      let request = try Surroundings.request()
      let answer = await receiver.deliver(request, assets: [surroundings.asset])
      #expect(answer.state.matches(request.state))
      result = answer
    }
    return try #require(result)
  }

  @Test("says by its exit code how it ended", arguments: [false, true])
  func exitCodes(contained: Bool) async throws {
    #expect(try await deliver("exit 0", contained: contained).output == [:])
    let again = try await deliver("cat >/dev/null; echo busy >&2; exit 75", contained: contained)
    #expect(again.error?.effect == Effect.none)
    #expect(again.error?.retry == .later)
    #expect(again.error?.message == "it asks to be tried again: busy")
    guard case .cancelled = try await deliver("exit 77", contained: contained).outcome else {
      Issue.record("not cancelled")
      return
    }
    let failed = try await deliver("cat >/dev/null; echo why >&2; exit 3", contained: contained)
    #expect(failed.error?.code == .receiverFailed)
    #expect(failed.error?.effect == .unknown)
    #expect(failed.error?.retry == .never)
    #expect(failed.error?.message == "exit code 3: why")
    let killed = try await deliver("kill -9 $$", contained: contained)
    #expect(killed.error?.code == .receiverCrashed)
    #expect(killed.error?.effect == .unknown)
  }

  @Test("gets the request, the assets and a clean environment", arguments: [false, true])
  func input(contained: Bool) async throws {
    let line = """
      read -r request
      [ "$(cat "$HANDOFF_ASSET_1")" = "\(Surroundings.assetText)" ] || exit 1
      [ "$HANDOFF_ASSETS" = 1 ] && [ "$HANDOFF_DESTINATION" = hostile ] || exit 2
      [ "$PWD" = "$HANDOFF_WORK" ] && [ "$HOME" = "$HANDOFF_WORK" ] || exit 4
      [ "$GIVEN" = g ] && [ -z "$SECRET" ] && [ -z "$HANDOFF_FD" ] || exit 5
      echo note >"$HANDOFF_WORK/note" && echo copy >"$ARCHIVE/copy" || exit 6
      case $request in *'"title":"A title"'*) exit 0;; *) exit 7;; esac
      """
    try await Surroundings.with(containment: contained) { surroundings in
      let archive = surroundings.archive.lossyText
      let receiver = try surroundings.shell("ARCHIVE=\(archive)\n" + line) { $0.env = ["GIVEN"] }
      let result = await receiver.deliver(
        try Surroundings.request(),
        assets: [surroundings.asset]
      )
      #expect(result.output == [:], "\(result)")
      #expect(try FileStatus.of(surroundings.archive.appending("copy")) != nil)
    }
  }

  @Test("can answer with a document on its last line, which decides")
  func document() async throws {
    func answer(_ members: String, after: String = "") async throws -> HandoffResult {
      try await deliver(
        "read -r r; s=${r#*\\\"state\\\":\\\"}; s=${s%%\\\"*}; echo noise; "
          + "printf '{\"protocol_version\":3,\"state\":\"%s\",\(members)}\\n' \"$s\"; \(after)"
      )
    }
    let output = try await answer(
      "\"result\":\"success\",\"output\":{\"id\":\"7\"}",
      after: "exit 9"
    )
    #expect(output.output == ["id": .string("7")])
    let failure = try await answer(
      "\"result\":\"failure\",\"error\":{\"code\":\"quota\",\"message\":\"m\",\"effect\":\"none\","
        + "\"retry\":\"later\",\"retry_after_s\":30}"
    )
    #expect(failure.error?.code == .quota)
    #expect(failure.error?.retryAfter == 30)
    let odd = try await answer("\"result\":\"fine\"")
    #expect(odd.error?.code == .malformedResult)
    #expect(odd.error?.effect == .unknown)
    // Not the last line any more: the exit code decides.
    #expect(try await answer("\"result\":\"cancelled\"", after: "echo more").output == [:])
  }

  @Test("that answers with another token is malformed, never a success")
  func foreignToken() async throws {
    let line = "echo '{\"protocol_version\":3,\"state\":\"other\",\"result\":\"success\"}'"
    #expect(try await deliver(line).error?.code == .malformedResult)
    let none = "echo '{\"protocol_version\":3,\"result\":\"success\"}'"
    #expect(try await deliver(none).error?.code == .malformedResult)
  }

  @Test("that exits before it has read the request does no harm, and is told")
  func unread() async throws {
    let silent = try await deliver("exit 1")
    #expect(
      silent.error?.message == "exit code 1; it printed nothing and left the request unread"
    )
    let telling = try await deliver("echo no ffmpeg here >&2; exit 1")
    #expect(telling.error?.message == "exit code 1: no ffmpeg here")
  }

  @Test("that is silent for its idle time is ended", arguments: [false, true])
  func idle(contained: Bool) async throws {
    let result = try await deliver(
      "trap '' TERM; sleep 600 & wait; sleep 600",
      contained: contained
    ) {
      $0.idle = .milliseconds(300)
    }
    #expect(result.error?.code == .receiverTimeout)
    #expect(result.error?.effect == .unknown)
    #expect(result.error?.retry == .never)
  }

  @Test("that shows signs of life is ended only by the ceiling")
  func ceiling() async throws {
    let start = ContinuousClock.now
    let result = try await deliver("while :; do echo alive; sleep 0.05; done") {
      $0.idle = .milliseconds(400)
      $0.ceiling = .milliseconds(1200)
    }
    #expect(result.error?.code == .receiverTimeout)
    #expect(start.duration(to: .now) >= .milliseconds(1200))
  }

  @Test("that prints too much is ended; what it prints on standard error only floods its log")
  func flood() async throws {
    let result = try await deliver("yes")
    #expect(result.error?.code == .receiverFailed)
    #expect(result.error?.message.hasPrefix("output too large") == true)
    let noisy = try await deliver("yes | head -c 1500000 >&2; exit 0")
    #expect(noisy.output == [:])
  }

  @Test("can clean up at SIGTERM when it is cancelled", arguments: [false, true])
  func cancelled(contained: Bool) async throws {
    try await Surroundings.with(containment: contained) { surroundings in
      let note = surroundings.work.appending("note")
      let receiver = ExecReceiver(
        launch: try surroundings.launch(
          .exec,
          ["sh", "-c", "trap 'echo cleaned >note; exit 0' TERM; echo up >up; sleep 600 & wait"]
        ),
        grace: .seconds(20)
      )
      let request = try Surroundings.request()
      let task = Task { await receiver.deliver(request, assets: []) }
      let isUp = try await poll { try FileStatus.of(surroundings.work.appending("up")) }
      #expect(isUp != nil)
      task.cancel()
      let result = await task.value
      #expect(result.error?.code == .interrupted)
      #expect(result.error?.effect == .unknown)
      #expect(try FileStatus.of(note) != nil)
    }
  }

  @Test("is stopped at everything but its own", .enabled(if: bubblewrapIsInstalled()))
  func attacks() async throws {
    let listener = try LoopbackListener()
    try await Surroundings.with { surroundings in
      let receiver = ExecReceiver(
        launch: try surroundings.launch(
          .exec,
          [
            "hostile-receiver", "exec", "attack", "ledger=\(surroundings.ledger.lossyText)",
            "socket=\(surroundings.socketPath.lossyText)", "port=\(listener.port)",
            "pid=\(getpid())",
          ]
        )
      )
      let result = await receiver.deliver(
        try Surroundings.request(),
        assets: [surroundings.asset]
      )
      let report = try #require(result.output, "\(result)").mapValues { $0.text ?? "" }
      let allowed = report.filter { $0.value == "succeeded" }.keys.sorted()
      #expect(allowed == ["read_asset", "write_work"], "\(report)")
    }
  }

  @Test("can do all that when it is not contained, so the attacks are real")
  func attacksUncontained() async throws {
    let listener = try LoopbackListener()
    try await Surroundings.with(containment: false) { surroundings in
      let receiver = ExecReceiver(
        launch: try surroundings.launch(
          .exec,
          [
            "hostile-receiver", "exec", "attack", "ledger=\(surroundings.ledger.lossyText)",
            "socket=\(surroundings.socketPath.lossyText)", "port=\(listener.port)",
            "pid=\(getpid())", "spare=machine",
          ]
        )
      )
      let result = await receiver.deliver(
        try Surroundings.request(),
        assets: [surroundings.asset]
      )
      let report = try #require(result.output, "\(result)").mapValues { $0.text ?? "" }
      for name in [
        "read_ledger", "list_state", "write_asset", "chmod_asset", "unlink_asset", "add_grant",
        "connect_network", "connect_socket", "signal_broker", "see_broker",
      ] {
        #expect(report[name] == "succeeded", "\(name): \(report[name] ?? "")")
      }
    }
  }

  @Test("has only its three descriptors", arguments: [false, true])
  func descriptors(contained: Bool) async throws {
    try await Surroundings.with(containment: contained) { surroundings in
      let receiver = ExecReceiver(
        launch: try surroundings.launch(.exec, ["hostile-receiver", "exec", "descriptors"])
      )
      let result = await receiver.deliver(try Surroundings.request(), assets: [])
      // The fixture lets go of standard input when it has read the request.
      #expect(result.output?["open"]?.text == "[1, 2]", "\(result)")
    }
  }

  @Test("is done when it has ended, though a grandchild holds its output")
  func grandchild() async throws {
    try await Surroundings.with(containment: false) { surroundings in
      let receiver = ExecReceiver(
        launch: try surroundings.launch(.exec, ["hostile-receiver", "exec", "grandchild"])
      )
      let result = await receiver.deliver(try Surroundings.request(), assets: [])
      let pid = try #require(pid_t(result.output?["pid"]?.text ?? ""))
      #expect(kill(pid, SIGKILL) == 0)
    }
  }

  @Test("that is not there has no effect and is tried later")
  func missing() async throws {
    try await Surroundings.with { surroundings in
      for command in [["/no/such"], ["no-such"], [""]] {
        let receiver = ExecReceiver(launch: try surroundings.launch(.exec, command))
        let result = await receiver.deliver(try Surroundings.request(), assets: [])
        #expect(result.error?.code == .destinationUnavailable)
        #expect(result.error?.effect == Effect.none)
        #expect(result.error?.retry == .later)
      }
    }
  }

  @Test("that prints zero bytes has them in no message")
  func zeroBytes() async throws {
    let result = try await deliver("printf 'no\\0way\\n'; exit 3")
    #expect(result.error?.message == "exit code 3: no\u{FFFD}way")
  }

  @Test("whose interpreter is missing says which", arguments: [false, true])
  func missingInterpreter(contained: Bool) async throws {
    try await Surroundings.with(containment: contained) { surroundings in
      for (line, words) in [("#!/no/such/python", "/no/such/python"), ("#!/bin/sh\r", "CR LF")] {
        let script = surroundings.archive.appending("receiver")
        try DurableFile.write(Array("\(line)\nexit 0\n".utf8), to: script, permissions: 0o755)
        let receiver = ExecReceiver(launch: try surroundings.launch(.exec, [script.lossyText]))
        #expect(receiver.fault?.message.contains(words) == true)
        let result = await receiver.deliver(try Surroundings.request(), assets: [])
        #expect(result.error?.message.contains(words) == true, "\(result)")
        #expect(result.error?.effect == Effect.none)
      }
    }
  }

  @Test("whose folder is missing has no effect, and the message names the folder")
  func missingFolder() async throws {
    let result = try await deliver("exit 0", contained: true) { $0.write = ["/no/archive"] }
    #expect(result.error?.code == .destinationUnavailable)
    #expect(result.error?.effect == Effect.none)
    #expect(result.error?.message.contains("/no/archive") == true)
  }

  @Test("leaves its token in no log and no message")
  func tokens() async throws {
    try await Surroundings.with(containment: false) { surroundings in
      let receiver = try surroundings.shell("cat; cat /dev/fd/0 >&2; exit 3")
      let result = await receiver.deliver(try Surroundings.request(), assets: [])
      let lines = surroundings.records.all.map { LineFormat.line($0, time: "") }
      #expect(lines.contains { $0.contains("(state token)") })
      #expect(!lines.contains { $0.contains("token-1") })
      #expect(result.error?.message.contains("token-1") == false)
    }
  }
}
