import HandoffPluginKit
import HandoffProtocol

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

  init(
    _ media: MatrixMedia,
    _ upload: Upload,
    user: String,
    room: String,
    roomName: String
  ) {
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

  /// Whose account it is.
  var server: String { String(user.drop { $0 != ":" }.dropFirst()) }

  var size: Int64 { info["size"]?.integer ?? 0 }

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
