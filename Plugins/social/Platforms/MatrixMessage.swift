import HandoffPluginKit
import HandoffProtocol

/// The event that shows a video.
enum MatrixMessage {
  /// The member of the content that says which publication it is; nobody else writes it.
  static let keyMember = "handoff.key"
  /// The content of an `m.room.message`.
  static func content(_ post: Post, _ prepared: MatrixPrepared, type: String) -> JSONValue {
    // The text is empty where its template is.
    let caption = post.text.isEmpty ? post.title : post.text
    return .object([
      "msgtype": .string(type),
      "url": .string(prepared.media.uri),
      "filename": .string(prepared.fileName),
      // A body that is not the file name is a caption.
      "body": .string(caption),
      "format": .string("org.matrix.custom.html"),
      "formatted_body": .string(formatted(caption, title: post.title)),
      "info": .object(prepared.info),
      keyMember: .string(post.key),
    ])
  }

  /// A name for those who save the file; the export's own name is nobody's business there.
  static func fileName(_ title: String, ending: String) -> String {
    let plain = title.unicodeScalars.map { scalar in
      scalar.value < 0x20 || scalar.value == 0x7F || "/\\:*?\"<>|".unicodeScalars.contains(scalar)
        ? "_" : String(scalar)
    }
    let stem = String(plain.joined().prefix(100)).drop { $0 == "." || $0 == " " }
    return "\(stem.isEmpty ? "video" : String(stem)).\(ending)"
  }

  private static func formatted(_ caption: String, title: String) -> String {
    let lines = caption.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    let escaped = lines.enumerated().map { index, line in
      index == 0 && line == title ? "<strong>\(escape(line))</strong>" : escape(line)
    }
    return escaped.joined(separator: "<br>")
  }

  private static func escape(_ text: String) -> String {
    text.reduce(into: "") { result, character in
      switch character {
      case "&": result += "&amp;"
      case "<": result += "&lt;"
      case ">": result += "&gt;"
      case "\"": result += "&quot;"
      default: result.append(character)
      }
    }
  }
}
