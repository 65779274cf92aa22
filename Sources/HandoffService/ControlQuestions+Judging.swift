import DropFolders
import HandoffConfig
import HandoffControl
import HandoffCore
import HandoffProtocol
import Ledger
import Paths

/// A person's wish that a file in a drop folder is judged again.
extension ControlQuestions {
  /// - Returns: where the file stands now that it is looked at again; what was last imported from its
  ///   path, if anything was.
  func judgeAgain(_ parameters: WhyParameters) async throws -> WhyReport {
    for path in folderPaths.places(of: parameters.path) {
      await suspects.forget(path)
      switch try await watcher.judgeAgain(path) {
      case .outside: continue
      case .begun(let report):
        var answer = WhyReport(report)
        answer.localIdentifier = try await ledger.identifier(lastSightedAt: path)
        return answer
      case .misnamed(let report):
        throw ControlError(
          .refused,
          "\(path.displayText) is no export by its name: \(report.reason ?? "it is ignored")"
        )
      case .missing:
        throw ControlError(.notFound, "there is no file \(path.displayText)")
      case .offline(let reason):
        throw ControlError(.failed, "\(path.displayText) cannot be looked at: \(reason)")
      }
    }
    throw ControlError(.notFound, "\(parameters.path.displayText) lies in no drop folder")
  }

  var folderPaths: FolderPaths { FolderPaths(configuration.dropFolders) }

  /// What is to be said of a sidecar that came after its export was imported; nil if there is none.
  func lateSidecar(beside path: BytePath) async throws -> String? {
    guard try await sidecars.isUnread(besides: path) else { return nil }
    return "its sidecar came after it was imported, and counts for the next export of this name"
  }
}
