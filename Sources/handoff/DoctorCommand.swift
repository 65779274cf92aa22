import HandoffService
import Paths

extension Command {
  /// What is wrong on this machine, and how to mend it.
  static let doctor = Command(
    "doctor",
    "",
    "what is wrong on this machine and how to mend it; also while the broker is down"
  ) { arguments in
    let report = try await Doctor.look(
      at: try ConfigurationFile.load(arguments),
      programs: Programs.besideThisOne(),
      environment: ProcessEnvironment.values
    )
    if arguments.has("json") {
      try Terminal.json(report)
    } else {
      for line in report.checks {
        let shown = BytePath(line.text).displayText
        Terminal.out("\(line.standing.rawValue): \(line.check): \(shown)")
        if let remedy = line.remedy { Terminal.out("  \(BytePath(remedy).displayText)") }
      }
    }
    return report.hasProblem ? .failed : .done
  }
}
