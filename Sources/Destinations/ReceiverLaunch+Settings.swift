import HandoffCore
import HandoffProtocol
import Paths

extension ReceiverLaunch {
  /// Why the receiver could not use the folders and files that its settings name, by its own schema of them.
  ///
  /// A folder that its containment does not show it may look like one that is to be made: in a `/tmp` of its
  /// own, which is gone with the receiver, a copy would be kept and read back, and be nowhere.
  ///
  /// - Returns: nil where it is not contained, or is shown all of them.
  func unseen(in settings: JSONValue, by schema: JSONValue?) throws -> ResultError? {
    guard isContained, case .object(let properties)? = schema?["properties"] else { return nil }
    let plan = try containment(for: try findProgram())
    for (name, property) in properties.sorted(by: { $0.key < $1.key }) {
      guard let format = property["format"]?.text, ["folder", "file"].contains(format),
        let text = settings[name]?.text, BytePath(text).isAbsolute
      else { continue }
      let path = BytePath(text).tidied
      let list = format == "folder" ? "write" : "read"
      let reason: String
      switch plan.sight(of: path) {
      case .writable, .readOnly: continue
      case .hidden: reason = "is the broker's own, and no receiver sees it"
      case .none:
        reason = "is not shown to it: add \(Self.shown(path, format)) to the destination's \(list)"
      case .own(let folder):
        reason =
          "would lie in its own \(folder.displayText), which is gone with it: "
          + "add \(Self.shown(path, format)) to the destination's \(list)"
      }
      return ResultError(
        .notConfigured,
        "settings.\(name): \(path.displayText) \(reason)",
        effect: .none,
        retry: .afterFix
      )
    }
    return nil
  }

  private static func shown(_ path: BytePath, _ format: String) -> String {
    format == "folder" ? "it" : path.parent.displayText
  }
}
