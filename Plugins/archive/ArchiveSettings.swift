import HandoffPluginKit
import HandoffProtocol
import Paths

/// The settings of an archive, as they stand in the configuration.
struct ArchiveSettings: Decodable, Sendable {
  /// The archive's folder, absolute; or ``remote``.
  var folder: String?
  /// A remote of rclone with a path in it, as `name:path`; or ``folder``.
  var remote: String?
  /// Where in it a copy goes; see ``Layout``.
  var layout: String?
  /// Of ``remote``: the configuration file of rclone, absolute.
  var rcloneConfig: String?
  /// Of ``remote``: the program, where it is not found on the search path; absolute.
  var rclone: String?
  /// Of ``remote``: at most so many bytes a second, as rclone's `--bwlimit`.
  var bandwidth: String?
  /// Of ``remote``: how copies are proven; see ``RemoteProof/Policy``.
  var verify: RemoteProof.Policy?
  /// Of ``remote``: seconds without a word of rclone after which it is ended.
  var timeout: Int?
  /// Keep ASC MHL generations beside `SHA256SUMS`.
  var mhl: Bool?
  /// The leading folders of the layout whose folder has the `ascmhl` folder; `.` for the archive's own.
  var mhlRoot: String?

  private enum CodingKeys: String, CodingKey {
    case folder
    case remote
    case rcloneConfig = "rclone_config"
    case rclone
    case bandwidth
    case verify
    case timeout
    case layout
    case mhl
    case mhlRoot = "mhl_root"
  }

  /// Where an archive keeps its copies.
  enum Store: Sendable {
    case folder(BytePath)
    case remote(String)
  }

  /// The one of ``folder`` and ``remote`` that is set.
  func store() throws(ResultError) -> Store {
    switch (folder, remote) {
    case (let folder?, nil):
      let path = BytePath(folder)
      guard path.isAbsolute else {
        throw .notConfigured("settings.folder is not an absolute path")
      }
      return .folder(path.tidied)
    case (nil, let remote?):
      return .remote(remote)
    default:
      throw .notConfigured("settings has not exactly one of folder and remote")
    }
  }

  /// The members that every archive has, for `discover`.
  static var schema: JSONValue {
    .object([
      "type": .string("object"),
      "properties": .object([
        "folder": .object(["type": .string("string"), "format": .string("folder")]),
        "remote": .object(["type": .string("string")]),
        "rclone_config": .object(["type": .string("string"), "format": .string("file")]),
        "rclone": .object(["type": .string("string"), "format": .string("file")]),
        "bandwidth": .object(["type": .string("string")]),
        "verify": .object([
          "enum": .array(RemoteProof.Policy.allCases.map { .string($0.rawValue) })
        ]),
        "timeout": .object(["type": .string("integer"), "minimum": .integer(1)]),
        "layout": .object(["type": .string("string"), "default": .string(Layout.standard)]),
        "mhl": .object(["type": .string("boolean"), "default": .bool(false)]),
        "mhl_root": .object(["type": .string("string")]),
      ]),
      "oneOf": .array([
        .object(["required": .array([.string("folder")])]),
        .object(["required": .array([.string("remote")])]),
      ]),
    ])
  }
}
