import Glibc
import HandoffProtocol
import HandoffTestSupport
import LinuxSystem
import Paths
import Testing

/// What receivers print, too much of it or the wrong thing; the rules are those of Containment.md.
@Suite("Cases: what receivers print", .timeLimit(.minutes(2)))
struct ReceiverOutputCases {
  @Test("Case 11: a flood on both outputs delays nobody, and its answer counts")
  func flood() async throws {
    try await HostileScene.run { hostile in
      hostile.destination("exec", "exec", ["misdeeds.py", "exec", "flood"])
        + hostile.destination("plug", "plugin", ["misdeeds.py", "plugin", "flood"])
        + HostileScene.shell("quick", "exit 0")
    } _: { hostile in
      let asset = try await hostile.importVideo(1)
      try await hostile.begin(asset, to: "exec")
      try await hostile.begin(asset, to: "plug")
      let start = ContinuousClock.now
      #expect(try await hostile.sendAndWait(asset, to: "quick")["status"]?.text == "succeeded")
      #expect(start.duration(to: .now) < .seconds(5))
      for name in ["exec", "plug"] {
        let handoff = try await hostile.handoff(to: name, in: HostileScene.ends)
        #expect(handoff["status"]?.text == "succeeded", "\(handoff)")
      }
    }
  }

  @Test("Case 37: of stray lines the last one decides; another line is only log")
  func strayLines() async throws {
    let (token, answer) = (HostileScene.token, HostileScene.answer)
    let cancelled =
      "printf '{\"protocol_version\":3,\"state\":\"%s\",\"result\":\"cancelled\"}\\n' \"$s\"; "
    try await HostileScene.run { _ in
      HostileScene.shell("around", token + "echo Loading; " + cancelled + "echo bye; exit 0")
        + HostileScene.shell("before", token + "echo Loading; " + answer + "exit 9")
        + HostileScene.shell("both", token + cancelled + answer + "exit 9")
        + HostileScene.shell("other", token + "echo '{\"a\":1}'; exit 77")
    } _: { hostile in
      let asset = try await hostile.importVideo(1)
      // A document that is not the last line is log: the exit code decides.
      for (name, status) in [
        ("around", "succeeded"), ("before", "succeeded"), ("both", "succeeded"),
        ("other", "cancelled"),
      ] {
        let handoff = try await hostile.sendAndWait(asset, to: name)
        #expect(handoff["status"]?.text == status, "\(name): \(handoff)")
      }
    }
  }

  @Test("Case 38: an answer that sits in the receiver's buffer counts at its end, or never")
  func buffered() async throws {
    let python = """
      /usr/bin/python3 -c 'import json, sys, time
      state = json.load(sys.stdin)["state"]
      print(json.dumps({"protocol_version": 3, "state": state, "result": "success"}))
      time.sleep(float(sys.argv[1]))'
      """
    try await HostileScene.run { _ in
      HostileScene.shell("ends", python + " 1")
        + HostileScene.shell("stays", python + " 600", "idle = \"2s\"")
    } _: { hostile in
      let asset = try await hostile.importVideo(1)
      #expect(try await hostile.sendAndWait(asset, to: "ends")["status"]?.text == "succeeded")
      let handoff = try await hostile.sendAndWait(asset, to: "stays")
      #expect(handoff["status"]?.text == "outcome_unknown")
      #expect(handoff["error"]?["code"]?.text == "receiver_timeout")
      #expect(handoff["error"]?["remedy"]?.text?.contains("flush") == true, "\(handoff)")
    }
  }

  @Test("Case 39: endless output ends its receiver, and costs little memory")
  func endless() async throws {
    try await HostileScene.run { hostile in
      HostileScene.shell("out", "yes | tr -d '\\n'")
        + HostileScene.shell("errors", "yes | tr -d '\\n' >&2", "ceiling = \"2s\"\nidle = \"1s\"")
        + hostile.destination("long", "exec", ["misdeeds.py", "exec", "long_line"])
        + hostile.destination("wire", "plugin", ["misdeeds.py", "plugin", "long_line"])
        + HostileScene.shell("quick", "exit 0")
    } _: { hostile in
      let asset = try await hostile.importVideo(1)
      _ = try await hostile.sendAndWait(asset, to: "quick")
      let pid = try await hostile.brokerID
      let before = try BrokerVitals(of: pid)
      for name in ["out", "errors", "long", "wire"] { try await hostile.begin(asset, to: name) }
      #expect(try await hostile.sendAndWait(asset, to: "quick")["status"]?.text == "succeeded")
      for name in ["out", "long"] {
        let handoff = try await hostile.handoff(to: name, in: HostileScene.ends)
        let message = handoff["error"]?["message"]?.text ?? ""
        #expect(message.hasPrefix("output too large: more than 1048576 bytes"), "\(handoff)")
      }
      _ = try await hostile.handoff(to: "errors", in: HostileScene.ends)
      _ = try await hostile.handoff(to: "wire", in: ["outcome_unknown", "submitted", "accepted"])
      let after = try await BrokerVitals.settled(pid, to: before)
      #expect(after.memory < before.memory + (24 << 20), "\(before), then \(after)")
    }
  }

  @Test("Case 95: half an answer is none, whatever the receiver does then")
  func halfAnswer() async throws {
    let half = HostileScene.token + "printf '{\"state\":\"%s\",\"sta' \"$s\"; "
    try await HostileScene.run { hostile in
      HostileScene.shell("none", half + "exit 0")
        + HostileScene.shell("again", half + "exit 75")
        + HostileScene.shell("one", half + "exit 1")
        + HostileScene.shell("crash", half + "kill -SEGV $$")
        + HostileScene.shell("closes", half + "exec >&- 2>&-; sleep 600", "idle = \"1s\"")
        + hostile.destination("plug", "plugin", ["misdeeds.py", "plugin", "dies"])
    } _: { hostile in
      let asset = try await hostile.importVideo(1)
      for (name, code, words) in [
        ("none", "malformed_result", "cannot be read"),
        ("again", "malformed_result", "exit code 75"), ("one", "malformed_result", "exit code 1"),
        ("crash", "receiver_crashed", "signal 11"),
        ("closes", "receiver_timeout", "printed nothing"),
      ] {
        let handoff = try await hostile.sendAndWait(asset, to: name)
        #expect(handoff["status"]?.text == "outcome_unknown", "\(handoff)")
        #expect(handoff["error"]?["code"]?.text == code, "\(handoff)")
        let message = handoff["error"]?["message"]?.text ?? ""
        #expect(message.contains(words) && message.contains("(state token)"), "\(message)")
      }
      let handoff = try await hostile.sendAndWait(asset, to: "plug")
      #expect(handoff["status"]?.text == "outcome_unknown", "\(handoff)")
    }
  }

  private static let badLines = [
    "deep", "huge_exponent", "infinite", "wide", "not_a_number", "twice_state", "twice_result",
    "mark", "surrogate", "zero", "wide_text", "invalid", "deeper", "latin", "half",
  ]

  @Test("Case 96: hostile numbers and shapes are no success, and the broker lives")
  func hostileJSON() async throws {
    try await HostileScene.run { hostile in
      (Self.badLines + ["pretty"]).flatMap { name in
        [
          hostile.destination("e_\(name)", "exec", ["misdeeds.py", "exec", name]),
          hostile.destination("p_\(name)", "plugin", ["misdeeds.py", "plugin", name]),
        ]
      }
      .joined()
    } _: { hostile in
      let asset = try await hostile.importVideo(1)
      let pid = try await hostile.brokerID
      // On a plugin's connection a line feed ends a message, so half of one comes.
      let execs = (Self.badLines + ["pretty"]).map { "e_\($0)" }
      let plugins = (Self.badLines + ["pretty"]).map { "p_\($0)" }
      for name in execs + plugins { try await hostile.begin(asset, to: name) }
      for name in execs {
        // The exit code is 0, and the line says "failure": it counts for neither.
        let handoff = try await hostile.handoff(to: name, in: HostileScene.ends)
        #expect(handoff["status"]?.text == "outcome_unknown", "\(name): \(handoff)")
        #expect(handoff["error"]?["code"]?.text == "malformed_result", "\(name): \(handoff)")
      }
      for name in plugins {
        let handoff = try await hostile.handoff(to: name, in: ["outcome_unknown", "failed"])
        let code = handoff["error"]?["code"]?.text ?? ""
        #expect(["malformed_result", "receiver_crashed"].contains(code), "\(name): \(handoff)")
      }
      #expect(try await hostile.brokerID == pid)
    }
  }
}
