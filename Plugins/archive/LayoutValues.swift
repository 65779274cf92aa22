import HandoffPluginKit
import HandoffProtocol
import Paths

/// What the names in a ``Layout`` stand for, for one asset of a handoff.
///
/// They are the same over attempts and restarts.
struct LayoutValues: Sendable {
  /// The names, as they are told to people; `metadata.NAME` may go deeper, as `metadata.project.code`.
  static let names = [
    "year", "month", "day", "hour", "title", "file", "stem", "ext", "handoff", "uuid", "sha256",
    "destination", "metadata.NAME",
  ]

  /// The export's own name, in any bytes.
  let exportName: BytePath
  private let texts: [String: String]
  private let title: String?
  private let metadata: JSONValue?

  /// The date is that of the handoff's first arrival, in UTC.
  init(_ handoff: ReceivedHandoff, _ asset: GrantedAsset, _ context: ReceiveContext) {
    let date = Array(context.receivedAt.rfc3339)
    exportName = asset.path.lastComponent
    // An empty one is none: it would take the extension's dot for its own.
    title = handoff.title.flatMap { $0.allSatisfy(\.isWhitespace) ? nil : $0 }
    metadata = handoff.metadata
    texts = [
      "year": String(date[0..<4]), "month": String(date[5..<7]), "day": String(date[8..<10]),
      "hour": String(date[11..<13]), "handoff": handoff.id, "uuid": asset.localIdentifier.uuid,
      "sha256": asset.sha256.hex, "destination": context.destination.text,
    ]
  }

  /// The name stands for something.
  static func isKnown(_ name: Substring) -> Bool {
    let prefix = "metadata."
    if name.hasPrefix(prefix) {
      return name.dropFirst(prefix.count).split(separator: ".", omittingEmptySubsequences: false)
        .allSatisfy { !$0.isEmpty }
    }
    return names.dropLast().contains { $0 == name }
  }

  /// What a name stands for, without a slash or a control character.
  ///
  /// In the name of a file, a handoff without a title has the export's stem for one.
  func value(_ name: String, inFileName: Bool) -> [UInt8] {
    switch name {
    case "file": LayoutName.clean(exportName.bytes)
    case "stem": LayoutName.clean(exportName.stem.bytes)
    case "ext": LayoutName.clean(exportName.fileExtension)
    case "title":
      title.map { LayoutName.clean(Array($0.utf8)) }
        ?? (inFileName ? LayoutName.clean(exportName.stem.bytes) : Array("untitled".utf8))
    default:
      LayoutName.clean(Array((texts[name] ?? metadataText(name)).utf8))
    }
  }

  /// A member of the sender's metadata; `no-NAME` where it has none that is a text, number or truth.
  private func metadataText(_ name: String) -> String {
    let path = name.split(separator: ".").dropFirst()
    var value = metadata
    for key in path {
      guard case .object(let members) = value else {
        value = nil
        break
      }
      value = members[String(key)]
    }
    return switch value {
    case .string(let text) where !text.isEmpty: text
    case .integer(let number): String(number)
    case .number(let number): String(number)
    case .bool(let truth): truth ? "true" : "false"
    default: "no-\(path.joined(separator: "."))"
    }
  }
}

extension BytePath {
  /// What follows the last dot of the last part, as it is written; empty if there is none.
  var fileExtension: [UInt8] { Array(lastComponent.bytes.dropFirst(stem.bytes.count + 1)) }
}
