import HandoffControl
import HandoffCore
import HandoffProtocol
import HandoffService
import Paths

extension Command {
  /// Lets a handoff go that waits for a person's approval.
  static let approve = Command(
    "approve",
    "ID",
    "let a handoff go that waits for a person: exactly what is there now",
    options: [
      Option("expect", "DIGEST", "only if it is what was seen (`handoff show ID`: approval.digest)")
    ],
    examples: ["handoff approve h12", "handoff approve h12 --expect 5f3a09c2d1e47b66"]
  ) { arguments in
    guard let id = arguments.operands.first?.lossyText else {
      throw CommandFailure(.usage, "handoff approve: which handoff?")
    }
    if let digits = arguments.text("expect"), digits.count < 16 || !digits.allSatisfy(\.isHexDigit)
    {
      throw CommandFailure(
        .usage,
        "handoff approve: --expect takes at least 16 digits of the digest that `handoff show \(id)` shows"
      )
    }
    let report = try await BrokerConnection.ask(
      ConfigurationFile.load(arguments),
      .approve,
      ApproveParameters(handoffID: id, expect: arguments.text("expect")),
      as: ApprovalReport.self
    )
    if arguments.has("json") {
      try Terminal.json(report)
      return .done
    }
    let handoff = report.handoff
    let title = handoff.title.map { " \u{201C}\(BytePath($0).displayText)\u{201D}" } ?? ""
    let word = report.wasApproved ? "was approved already" : "approved"
    Terminal.out("\(handoff.id) \(word):\(title) to \(handoff.destination)")
    for file in report.files {
      Terminal.out("  \(BytePath(file.name).displayText), \(file.size) bytes, \(file.sha256)")
    }
    Terminal.out("  digest \(report.digest.hex.prefix(16))")
    if let moment = handoff.publishAtLocal { Terminal.out("  not before \(moment)") }
    return .done
  }
}
