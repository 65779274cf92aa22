package import HandoffCore
package import HandoffProtocol
package import Paths

/// What the sidecar file beside an export, `NAME.EXT.handoff.toml`, chooses for it.
///
/// It may choose among its folder's own destinations and the configured callbacks, nothing else.
package struct Sidecar: Hashable, Sendable {
  package var title: String?
  package var description: String?
  package var tags: [String] = []
  /// The destinations that it narrows the folder's to; nil for all.
  package var handoff: [DestinationName]?
  /// The box; nil where it says nothing, which is not ticked.
  package var syncPublish: Bool?
  package var callbackID: CallbackID?
  package var publishAt: PublishMoment?
  package var metadata: [String: JSONValue] = [:]

  /// What the name of a sidecar adds to its export's.
  package static let suffix = ".handoff.toml"
  /// The longest file that is read, in bytes.
  package static let maximumSize = 65_536
  /// The longest title, in bytes.
  package static let maximumTitle = 1000
  /// The most that title, description, tags and metadata may take in a request, in bytes of JSON: the
  /// rest of its 16 KiB is for identifiers.
  package static let maximumMetadata = 8192

  package init() {}

  /// Reads a sidecar file.
  ///
  /// - Parameters:
  ///   - bytes: the file's content: TOML 1.0 in UTF-8.
  ///   - file: its path, for messages.
  ///   - folder: the drop folder that its export is in.
  ///   - callbacks: the configured callback ids.
  /// - Returns: what it chooses.
  /// - Throws: a syntax error alone, or everything that is wrong with the meaning.
  package static func decode(
    bytes: [UInt8],
    file: BytePath,
    folder: DropFolderSettings,
    callbacks: Set<CallbackID>
  ) throws(ConfigurationError) -> Sidecar {
    let context = DecodingContext(file: file, directory: folder.path)
    let reader = try TableReader.root(of: bytes, limit: maximumSize, context: context)
    var sidecar = Sidecar()
    sidecar.readChoices(from: reader, folder: folder, callbacks: callbacks)
    sidecar.readContent(from: reader)
    reader.finish()
    if let error = context.error { throw error }
    return sidecar
  }

  private mutating func readChoices(
    from reader: TableReader,
    folder: DropFolderSettings,
    callbacks: Set<CallbackID>
  ) {
    if reader.has("sync_publish") {
      var isTicked = false
      reader.read("sync_publish", into: &isTicked)
      syncPublish = isTicked
      if isTicked, folder.syncPublishTo.isEmpty {
        reader.report("sync_publish", "true, but the folder's sync_publish_to names no destination")
      }
    }
    _ = reader.node("sync_publish")
    if reader.has("handoff") {
      var chosen: [DestinationName] = []
      reader.read("handoff", into: &chosen)
      check(chosen, of: folder, in: reader)
      handoff = chosen
    }
    _ = reader.node("handoff")
    callbackID = reader.callbackID("callback_id")
    if let callbackID, !callbacks.contains(callbackID) {
      reader.report("callback_id", "there is no callback \(callbackID)")
    }
    if let node = reader.node("publish_at") {
      publishAt = PublishMoment(node)
      if publishAt == nil {
        reader.report("publish_at", "a date and time is expected, as 2026-12-24T18:00:00+01:00")
      }
    }
  }

  private func check(
    _ chosen: [DestinationName],
    of folder: DropFolderSettings,
    in reader: TableReader
  ) {
    for (index, name) in chosen.enumerated() {
      let path = "handoff[\(index)]"
      if folder.handoff.contains(name) { continue }
      if !folder.syncPublishTo.contains(name) {
        reader.context.report("\(path): \(name) is no destination of this folder", at: path)
      } else if syncPublish != true {
        reader.context.report("\(path): \(name) needs sync_publish = true", at: path)
      }
    }
  }

  private mutating func readContent(from reader: TableReader) {
    title = reader.optionalText("title")
    if let title, title.utf8.count > Self.maximumTitle {
      reader.report("title", "longer than \(Self.maximumTitle) bytes")
    }
    description = reader.optionalText("description")
    reader.read("tags", into: &tags)
    if case .object(let members) = reader.plainValue("metadata", resolvingPaths: false) {
      metadata = members
    }
    for key in ["description", "tags"] where metadata[key] != nil && reader.has(key) {
      reader.report("metadata", "\(key) stands beside it and in it")
    }
    guard let size = requestMetadata?.encodedSize, size > Self.maximumMetadata else { return }
    reader.report(
      "metadata",
      "with description and tags \(size) bytes, more than \(Self.maximumMetadata)"
    )
  }

  /// What goes into the request as `metadata`: the sidecar's own, with `description` and `tags` as
  /// members of it; nil if there is nothing.
  package var requestMetadata: JSONValue? {
    var members = metadata
    if let description { members["description"] = .string(description) }
    if !tags.isEmpty { members["tags"] = .array(tags.map { .string($0) }) }
    return members.isEmpty ? nil : .object(members)
  }
}
