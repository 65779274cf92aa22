import Glibc
import HandoffProtocol
import HandoffTestSupport
import LinuxSystem
import Paths
import Testing

/// Garbage costs neither others nor the broker anything.
@Suite("Cases: garbage")
struct GarbageCases {
  @Test(
    "Case 88: while 10,000 unknown tokens come, valid results are taken in under a second",
    .timeLimit(.minutes(3))
  )
  func unknownTokens() async throws {
    try await ObedientPlugin.run(["bad", "good"]) { scene in
      let asset = try await scene.importedAsset(1)
      _ = try await scene.sendMany(20, asset, to: "good")
      let bad = try await ObedientPlugin("bad", scene)
      let good = try await ObedientPlugin("good", scene)
      let given = try await good.given(20)
      let before = try scene.broker.footprint
      try bad.order("flood", "f", ["count": .integer(10_000)])
      _ = try await bad.answers("f", 100)
      for (index, given) in given.enumerated() {
        let result = ObedientPlugin.result(given.token)
        try good.order("result", "v\(index)", ["document": result])
      }
      let answers = try await good.answers("v", 20)
      #expect(answers.allSatisfy { $0.verdict == "ok" })
      #expect(answers.allSatisfy { $0.seconds < 1 }, "\(answers.map(\.seconds))")
      let refused = try await bad.answers("f", 10_000)
      #expect(Set(refused.map(\.verdict)).isSubset(of: ["unknown_state", "-32001"]))
      let after = try scene.broker.footprint
      #expect(after.resident < before.resident + (48 << 20))
      #expect(after.descriptors <= before.descriptors + 2)
      let lines = try scene.broker.wholeLog.split(separator: "\n").filter {
        $0.contains("refused")
      }
      #expect(lines.count < 20, "\(lines.count) lines")
    }
  }

  @Test(
    "Case 88: 200 unfinished questions and one of 100 MB disturb nobody",
    .timeLimit(.minutes(3))
  )
  func unfinishedLines() async throws {
    try await ObedientPlugin.run(["good"]) { scene in
      let asset = try await scene.importedAsset(1)
      _ = try await scene.sendMany(20, asset, to: "good")
      let good = try await ObedientPlugin("good", scene)
      let given = try await good.given(20)
      let before = try scene.broker.footprint
      let half = try ControlLine.call(1, "status", .object([:])).dropLast(5)
      let open = try (0..<200).map { _ in
        let line = try ControlLine(scene)
        try line.write(Array(half))
        return line
      }
      #expect(throws: SystemError.self) {
        let line = try ControlLine(scene)
        let piece = [UInt8](repeating: UInt8(ascii: "x"), count: 1 << 20)
        for _ in 0..<100 { try line.write(piece) }
      }
      for (index, given) in given.enumerated() {
        let result = ObedientPlugin.result(given.token)
        try good.order("result", "v\(index)", ["document": result])
      }
      let answers = try await good.answers("v", 20)
      #expect(answers.allSatisfy { $0.verdict == "ok" && $0.seconds < 1 })
      #expect(try scene.broker.footprint.resident < before.resident + (48 << 20))
      for line in open { try line.close() }
      let descriptors = try await poll {
        try scene.broker.footprint.descriptors <= before.descriptors + 2 ? true : nil
      }
      #expect(descriptors == true)
    }
  }

  @Test("Case 88: a message of 100 MB ends its plugin and nothing else", .timeLimit(.minutes(3)))
  func longMessage() async throws {
    try await ObedientPlugin.run(["bad", "good"]) { scene in
      let asset = try await scene.importedAsset(1)
      _ = try await scene.sendMany(1, asset, to: "good")
      let bad = try await ObedientPlugin("bad", scene)
      let good = try await ObedientPlugin("good", scene)
      let token = try await good.given(1)[0].token
      let before = try scene.broker.footprint
      try bad.order("long", "l", ["count": .integer(100_000_000)])
      let told = try await poll {
        try scene.broker.wholeLog.contains("more than 1048576") ? true : nil
      }
      let log = try scene.broker.tail()
      #expect(told == true, "\(log)")
      #expect(try await good.report("v", ObedientPlugin.result(token)) == "ok")
      #expect(try scene.broker.footprint.resident < before.resident + (48 << 20))
    }
  }

  @Test(
    "Case 89: an address in a message is stored as text and never asked",
    .timeLimit(.minutes(2))
  )
  func addresses() async throws {
    try await ObedientPlugin.run(["plug"]) { scene in
      let listener = try LoopbackListener()
      let address = "http://127.0.0.1:\(listener.port)/x"
      let addresses = [
        address, "//127.0.0.1:\(listener.port)/x", "/\\127.0.0.1:\(listener.port)",
        "javascript:alert(1)", "file:///etc/passwd", "https://good.example@127.0.0.1/",
        "http://x/\r\nHost: evil", String(repeating: "a", count: 3000),
      ]
      let asset = try await scene.importedAsset(1)
      for bad in addresses {
        let line = try ControlLine(scene)
        let order = ControlLine.order(asset, to: "plug", ["callback_id": .string(bad)])
        try line.write(ControlLine.call(1, "send", order))
        let answer = try await line.answers(1)[0]
        #expect(answer.error != nil, "\(bad.prefix(40))")
        try line.close()
      }
      _ = try await scene.sendMany(addresses.count, asset, to: "plug")
      let plugin = try await ObedientPlugin("plug", scene)
      let given = try await plugin.given(addresses.count)
      for (index, (bad, given)) in zip(addresses, given).enumerated() {
        let result = ObedientPlugin.result(
          given.token,
          "success",
          [
            "callback_url": .string(bad), "callback_id": .string(bad),
            "output": .object(["url": .string(bad), "callback_url": .string(bad)]),
          ]
        )
        #expect(try await plugin.report("a\(index)", result) == "ok")
        #expect(try await scene.handoff(given.handoff)["output"]?["url"]?.text == bad)
      }
      await scene.broker.end(SIGTERM)
      #expect(try !listener.wasAsked)
    }
  }
}
