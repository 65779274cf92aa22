import HandoffProtocol

extension Command {
  /// The whole walk, once, in a throwaway folder.
  static let demo = Command(
    "demo",
    "",
    "one real video through the whole walk, in a throwaway folder",
    options: [Option("keep", nil, "leave the folder there to look at")]
  ) { arguments in
    let stage = try await DemoStage.make()
    let outcome: Result<Void, any Error>
    do {
      try await DemoWalk(stage: stage).run()
      outcome = .success(())
    } catch {
      outcome = .failure(error)
      Terminal.error("the demo went wrong: \(error)\n\(stage.logTail())")
    }
    try await stage.tearDown(keep: arguments.has("keep"))
    guard case .success = outcome else { return .failed }
    Terminal.out("\nEvery step went right, and nothing is left behind.")
    return .done
  }
}

/// What the demo expected and did not find.
struct DemoFailure: Error, CustomStringConvertible {
  let description: String

  init(_ description: String) {
    self.description = description
  }

  /// Fails unless a condition holds.
  static func unless(_ condition: Bool, _ text: String) throws {
    if !condition { throw DemoFailure(text) }
  }
}
