import Glibc
import HandoffProtocol
import LinuxSystem
package import Paths

/// A video of the plugin's author, for one that does not take the kit's.
package struct GivenVideo: Sendable {
  /// What is known of it; nil where it is not.
  package struct Facts: Sendable {
    /// As in asset records.
    package var container: String?
    /// As in asset records.
    package var codec: String?
    /// Pixels.
    package var width: Int?
    /// Pixels.
    package var height: Int?
    /// Seconds.
    package var duration: Double?

    /// Names what is known.
    package init(
      container: String?,
      codec: String?,
      width: Int?,
      height: Int?,
      duration: Double?
    ) {
      self.container = container
      self.codec = codec
      self.width = width
      self.height = height
      self.duration = duration
    }

    var members: [String: JSONValue] {
      var members: [String: JSONValue] = [:]
      members["container"] = container.map { .string($0) }
      members["video_codec"] = codec.map { .string($0) }
      members["width"] = width.map { .integer(Int64($0)) }
      members["height"] = height.map { .integer(Int64($0)) }
      members["duration_s"] = duration.map { .number($0) }
      if width != nil { members["rotation"] = .integer(0) }
      return members
    }
  }

  /// The largest that is taken: each handoff has a copy of its own.
  package static let mostBytes = 256 << 20

  let facts: Facts
  let suffix: String
  private let content: [UInt8]

  /// Reads the file.
  ///
  /// - Throws: `SystemError`, also where it is too large.
  package init(_ path: BytePath, facts: Facts) throws {
    self.facts = facts
    let name = path.lastComponent.lossyText
    suffix = name.lastIndex(of: ".").map { String(name[name.index(after: $0)...]) } ?? "video"
    content = try FileDescriptor.open(path, O_RDONLY).readAll(limit: Self.mostBytes)
  }

  /// The file with a number in it, so that each handoff has an asset of its own, where its container
  /// lets one be added.
  func bytes(_ number: UInt8) -> [UInt8] {
    let isBoxed = content.count > 8 && content[4..<8].elementsEqual("ftyp".utf8)
    return isBoxed ? content + Self.box(number) : content
  }

  /// A `free` box (ISO/IEC 14496-12) with a number in it.
  static func box(_ number: UInt8) -> [UInt8] {
    [0, 0, 0, 9] + Array("free".utf8) + [number]
  }
}
