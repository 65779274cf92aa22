import HandoffProtocol

/// Lines that no broker sends, or only a newer one, and the small questions.
struct LineChecks: Sendable {
  let stage: CheckStage

  private static let survive =
    "Answer a line that cannot be read with the error -32700, or log it, and read on; catch every error "
    + "of the JSON decoder, also of deep nesting."

  func run() async throws {
    try await stage.check(.status) { life, _ in try await status(life) }
    try await stage.check(.statusChecks) { life, trial in
      try await LookingChecks(stage: stage).run(life, trial)
    }
    try await stage.check(.badJSON) { life, _ in
      for line in ["{\"jsonrpc\": \"2.0\", ", "[1, 2", "17", "\u{1}"] {
        try life.link.send(line: Array(line.utf8))
      }
      try life.link.send(line: [0xFF, 0xFE, 0x7B])
      try await life.checkAlive(after: "lines that are not JSON", mend: Self.survive)
    }
    try await stage.check(.deepNesting) { life, _ in
      let nested = String(repeating: "[", count: 100_000) + String(repeating: "]", count: 100_000)
      let line = #"{"jsonrpc":"2.0","id":900000,"method":"status","params":{"x":\#(nested)}}"#
      try life.link.send(line: Array(line.utf8))
      try await life.checkAlive(after: "a line that nests 100,000 deep", mend: Self.survive)
    }
    try await stage.check(.longLine) { life, _ in try await longLine(life) }
  }

  private func longLine(_ life: PluginLife) async throws {
    // What the line has besides its text: method, id, version, and the room for a larger id.
    let text = String(repeating: "x", count: RPCMessage.maximumSize - 120)
    do {
      _ = try await life.link.call(
        "conformance.long",
        .object(["x": .string(text)]),
        within: life.limits.answer
      )
    } catch let finding as Finding {
      throw Finding(
        "a line of one mebibyte: \(finding.got)",
        mend: "Read lines of up to 1,048,576 bytes: `reconcile` may be that long."
      )
    }
  }

  private func status(_ life: PluginLife) async throws {
    let method = MessageMethod.status.rawValue
    let answer = try await life.link.call(method, .object([:]), within: life.limits.answer)
    switch answer {
    case .error(let failure) where failure.code == -32_601:
      try stage.needs(.status)
      throw Finding(
        "the answer was \"unsupported\"",
        mend: "Answer `status`, or take it out of the capabilities."
      )
    case .error(let failure):
      throw Finding(
        "an error: \(failure.code) \(failure.message)",
        mend: "Answer {\"status\": \"up\"}, or \"down\" with a `reason`."
      )
    case .result(let value):
      guard ["up", "down"].contains(value["status"]?.text) else {
        throw Finding(
          "the answer has no `status` of up or down",
          mend: "Answer {\"status\": \"up\"}, or \"down\" with a `reason`."
        )
      }
    }
  }
}
