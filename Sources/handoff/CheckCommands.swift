import HandoffConfig
import HandoffControl
import HandoffProtocol
import HandoffService
import Paths

extension Command {
  /// Reads every object again.
  static let fsck = Command(
    "fsck",
    "[ID]",
    "read the library again and compare; goes on where it was interrupted",
    options: [
      Option("restart", nil, "begin anew, whatever an interrupted check has read"),
      Option("rate", "R", "read at most so much a second, as 50MB/s"),
      Option("stop", nil, "end the check that the broker runs"),
    ],
    examples: [
      "handoff fsck --rate 50MB/s", "handoff fsck 69D53A4B-8F24-8D7A-9C1E-3A5B7C9D0E1F/L0/001",
    ]
  ) { arguments in
    let configuration = try ConfigurationFile.load(arguments)
    let report =
      arguments.has("stop")
      ? try await ask(configuration, .fsckStop, [String: String]())
      : try await check(configuration, checkParameters(arguments))
    if arguments.has("json") {
      try Terminal.json(report)
    } else {
      show(report)
    }
    switch report.state {
    case .done: return report.findings.isEmpty ? .done : .failed
    case .running: return .done
    case .stopped, .failed: return .failed
    }
  }

  private static func checkParameters(_ arguments: ParsedArguments) throws -> CheckParameters {
    var parameters = CheckParameters(restart: arguments.has("restart"))
    if let text = arguments.operands.first?.lossyText {
      guard let identifier = LocalIdentifier(text) else {
        throw CommandFailure(.notFound, "handoff fsck: there is no asset \(text)")
      }
      parameters.localIdentifier = identifier
    }
    if let text = arguments.text("rate") {
      let size = text.hasSuffix("/s") ? String(text.dropLast(2)) : text
      guard let bytes = Quantities.size(size), bytes > 0 else {
        throw CommandFailure(.usage, "--rate \(text): not a size a second, as 50MB/s")
      }
      parameters.bytesPerSecond = bytes
    }
    return parameters
  }

  private static func check(
    _ configuration: Configuration,
    _ parameters: CheckParameters
  ) async throws -> CheckReport {
    var bar = ProgressBar("fsck")
    defer { bar.end() }
    switch try await CareConnection.open(configuration) {
    case .broker:
      var report = try await ask(configuration, .fsck, parameters)
      while report.state == .running {
        bar.show(report)
        let next = CheckProgressParameters(after: report.step)
        report = try await ask(configuration, .fsckProgress, next)
      }
      bar.show(report)
      return report
    case .here(let care):
      let progress = CheckProgress(startedAt: SystemClock.now())
      return try await CareConnection.here(care) {
        async let report = care.check(parameters, progress: progress)
        // A refusal comes before the first piece is read, and nothing would be followed.
        await CareConnection.follow(progress, &bar)
        return try await report
      }
    }
  }

  private static func ask(
    _ configuration: Configuration,
    _ method: ControlMethod,
    _ parameters: some Encodable
  ) async throws -> CheckReport {
    try await BrokerConnection.ask(configuration, method, parameters, as: CheckReport.self)
  }

  private static func show(_ report: CheckReport) {
    Terminal.table(
      ["FOUND", "ASSET", "MENDED", "PATH"],
      report.findings.map {
        [
          $0.kind.rawValue, $0.localIdentifier?.text ?? "", $0.mended ? "yes" : "no",
          BytePath($0.path).displayText,
        ]
      }
    )
    let read = "\(report.objects) of \(report.objectsTotal) objects"
    let found = report.findings.isEmpty ? "nothing wrong" : "\(report.findings.count) findings"
    switch report.state {
    case .done: Terminal.error("\(read) read, \(found)")
    case .running: Terminal.error("the check ends; `handoff fsck` goes on with it later")
    case .stopped: Terminal.error("stopped after \(read), \(found); `handoff fsck` goes on")
    case .failed: Terminal.error("failed after \(read), \(found): \(report.error ?? "")")
    }
  }
}
