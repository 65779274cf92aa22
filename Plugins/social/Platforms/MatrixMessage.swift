import HandoffPluginKit
import HandoffProtocol

/// The event that shows a video.
enum MatrixMessage {
  /// The member of the content that says which publication it is; nobody else writes it.
  static let keyMember = "handoff.key"
  /// An event may have 65,536 bytes; a caption longer than this is not written twice.
  private static let longestFormatted = 20_000

  /// The content of an `m.room.message`.
  static func content(_ post: Post, _ prepared: MatrixPrepared, type: String) -> JSONValue {
    let caption = caption(post)
    var members: [String: JSONValue] = [
      "msgtype": .string(type),
      "url": .string(prepared.media.uri),
      "filename": .string(prepared.fileName),
      // A body that is not the file name is a caption.
      "body": .string(caption),
      "info": .object(prepared.info),
      keyMember: .string(post.key),
    ]
    if caption.utf8.count <= longestFormatted {
      members["format"] = .string("org.matrix.custom.html")
      members["formatted_body"] = .string(formatted(caption, title: post.title))
    }
    return .object(members)
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

  private static func caption(_ post: Post) -> String {
    let text = post.text.isEmpty ? post.title : post.text
    return text
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

/// What an upload leaves for publishing, and where it is published.
struct MatrixPrepared: Sendable {
  let media: MatrixMedia
  let fileName: String
  /// `mimetype`, `size`, `w`, `h` and `duration`.
  let info: [String: JSONValue]
  /// `settings.room` when it was prepared, and the id that it stood for.
  let roomName: String
  let room: String
  /// Who publishes, so that looking for it needs no guess.
  let user: String

  /// What was recorded; nil for anything else.
  init?(_ recorded: JSONValue) {
    guard let media = MatrixMedia(recorded), let fileName = recorded["filename"]?.text,
      case .object(let info)? = recorded["info"], let roomName = recorded["room_name"]?.text,
      let room = recorded["room"]?.text, room.hasPrefix("!"), let user = recorded["user"]?.text
    else { return nil }
    self.media = media
    self.fileName = fileName
    self.info = info
    self.roomName = roomName
    self.room = room
    self.user = user
  }

  init(_ media: MatrixMedia, _ upload: Upload, room: String, roomName: String, user: String) {
    self.media = media
    let asset = upload.asset
    fileName = MatrixMessage.fileName(upload.post.title, ending: upload.contentType.ending)
    var info: [String: JSONValue] = [
      "mimetype": .string(upload.contentType.name), "size": .integer(asset.size),
    ]
    if let width = asset.width { info["w"] = .integer(Int64(width)) }
    if let height = asset.height { info["h"] = .integer(Int64(height)) }
    if let seconds = asset.duration, seconds.isFinite, (0..<1e9).contains(seconds) {
      info["duration"] = .integer(Int64((seconds * 1000).rounded()))
    }
    self.info = info
    self.room = room
    self.roomName = roomName
    self.user = user
  }

  var size: Int64 { info["size"]?.integer ?? 0 }

  /// The user's own server.
  var server: String { String(user.drop { $0 != ":" }.dropFirst()) }

  var recorded: JSONValue {
    guard case .object(var members) = media.recorded else { return .null }
    members["filename"] = .string(fileName)
    members["info"] = .object(info)
    members["room"] = .string(room)
    members["room_name"] = .string(roomName)
    members["user"] = .string(user)
    return .object(members)
  }
}
