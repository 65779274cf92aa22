import Glibc
import HandoffPluginKit
import HandoffProtocol
import LinuxSystem
import Paths

/// What the plugin reads itself of rclone's configuration file: the section's type, and which of its
/// values must stand in no message.
struct RemoteConfig: Sendable {
  private static let largest = 1 << 20
  /// Settings whose values are no secrets; everything else of some length is taken for one.
  private static let open: Set<String> = [
    "type", "provider", "region", "endpoint", "host", "port", "user", "url", "vendor", "remote",
    "path",
    "root", "key_file", "known_hosts_file", "location_constraint", "acl", "scope", "drive_id",
    "drive_type", "hash_type", "storage_class", "root_folder_id", "team_drive", "encoding",
    "chunk_size", "upload_cutoff", "shell_type", "md5sum_command", "sha1sum_command", "account",
    "access_key_id", "env_auth", "server_side_encryption", "description", "ssh", "domain",
  ]

  let path: BytePath
  /// The section's settings; empty where the file is encrypted.
  private let values: [String: String]
  /// Of all sections, the longest first.
  private let secrets: [String]
  /// rclone alone can read it, with `RCLONE_CONFIG_PASS`.
  let isEncrypted: Bool
  /// Others than its owner may read the file.
  let isOpenToOthers: Bool

  /// Reads the section of a remote.
  ///
  /// - Throws: `ResultError` with `not_configured`.
  init(_ path: BytePath, section: String) throws {
    self.path = path
    let lines: [String]
    do {
      let file = try FileDescriptor.open(path, O_RDONLY)
      isOpenToOthers = try file.status().permissions & 0o077 != 0
      let bytes = try file.readAll(limit: Self.largest)
      lines = String(decoding: bytes, as: UTF8.self).split(whereSeparator: \.isNewline).map(
        Self.trimmed
      )
    } catch {
      throw ResultError.notConfigured(
        "settings.rclone_config cannot be read: \(error)",
        remedy: "Write it, and add it to the destination's `read`."
      )
    }
    isEncrypted = lines.contains { $0.hasPrefix("RCLONE_ENCRYPT_") }
    var values: [String: String] = [:]
    var secrets: Set<String> = []
    var isFound = false
    var isInside = false
    for line in lines {
      if line.hasPrefix("["), line.hasSuffix("]") {
        isInside = line.dropFirst().dropLast() == section
        isFound = isFound || isInside
      } else if let equals = line.firstIndex(of: "="), !line.hasPrefix("#"), !line.hasPrefix(";") {
        let name = Self.trimmed(line[..<equals]).lowercased()
        let value = Self.trimmed(line[line.index(after: equals)...])
        if isInside { values[name] = value }
        // Those of other sections, too: one remote may stand before another.
        if !Self.open.contains(name), value.utf8.count >= 6 { secrets.insert(value) }
      }
    }
    guard isFound || isEncrypted else {
      throw ResultError.notConfigured(
        "\(path.displayText) has no section [\(section)], which settings.remote names"
      )
    }
    self.values = values
    self.secrets = secrets.sorted { $0.utf8.count > $1.utf8.count }
  }

  /// As `s3` or `sftp`; nil where the file is encrypted.
  var type: String? { values["type"] }

  func has(_ setting: String) -> Bool { values[setting] != nil }

  /// A message without the values that are secret, and without what follows the question mark of an
  /// address or stands before its at sign, where signatures and passwords are.
  func redacted(_ message: String) -> String {
    var text = message
    for secret in secrets { text = text.replacing(secret, with: "…") }
    return Self.redactingAddresses(text)
  }

  private static func redactingAddresses(_ text: String) -> String {
    var kept = ""
    var rest = text[...]
    while let mark = rest.firstRange(of: "://") {
      kept += rest[..<mark.upperBound]
      rest = rest[mark.upperBound...]
      let end = rest.firstIndex { " \"'<>\n\t".contains($0) } ?? rest.endIndex
      var address = rest[..<end]
      rest = rest[end...]
      if let query = address.firstIndex(of: "?") {
        address = address[..<query]
        rest = "?…" + rest
      }
      let authority = address.prefix { $0 != "/" }
      if let at = authority.lastIndex(of: "@") { address = "…" + address[at...] }
      kept += address
    }
    return kept + rest
  }

  private static func trimmed(_ text: some StringProtocol) -> String {
    let inner = text.drop { $0 == " " || $0 == "\t" }
    return String(inner.reversed().drop { $0 == " " || $0 == "\t" || $0 == "\r" }.reversed())
  }
}
