import HandoffConfig
import HandoffControl
import Paths

extension Command {
  /// Imports one file through the running broker.
  static func importFile(
    _ path: BytePath,
    _ arguments: ParsedArguments,
    _ configuration: Configuration
  ) async throws -> AssetReport {
    let asset = try await BrokerConnection.ask(
      configuration,
      .importFile,
      ImportParameters(
        path: ConfigurationFile.absolute(path),
        take: arguments.has("take"),
        acceptIncomplete: arguments.has("accept-incomplete")
      ),
      as: AssetReport.self
    )
    if let warning = asset.warning { Terminal.error("warning: \(warning)") }
    return asset
  }
}
