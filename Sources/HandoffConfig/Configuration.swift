package import HandoffCore
package import HandoffProtocol
package import Paths

/// Everything that the configuration file says, as typed values, with defaults where it says nothing.
package struct Configuration: Sendable {
  /// As it was given: for messages.
  package let file: BytePath
  /// The file's text.
  package let bytes: [UInt8]
  package let broker: BrokerSettings
  package let library: LibrarySettings
  /// In the file's order.
  package let dropFolders: [DropFolderSettings]
  /// In the file's order.
  package let destinations: [DestinationSettings]
  package let callbacks: [CallbackID: CallbackSettings]
  /// Those of the file first, then the built-in ones that it does not replace.
  package let writers: [WriterProfile]
  /// Where each key stands that the file has, by its path (`drop_folder[0].quiet`).
  let places: [String: Place]

  /// The longest file that is read, in bytes.
  package static let maximumSize = 1 << 20

  /// The destination of a name.
  package func destination(_ name: DestinationName) -> DestinationSettings? {
    destinations.first { $0.name == name }
  }

  /// Reads a configuration file.
  ///
  /// - Parameters:
  ///   - bytes: the file's content: TOML 1.0 in UTF-8.
  ///   - file: its name, for messages.
  ///   - directory: the absolute folder that relative paths are relative to.
  ///   - resolve: the path with the symbolic links of its existing parents resolved (realpath(3)); it
  ///     is called with absolute paths only.
  /// - Returns: the configuration, which may still ask for what is not built yet.
  /// - Throws: a syntax error alone, or everything that is wrong with the meaning.
  package static func decode(
    bytes: [UInt8],
    file: BytePath,
    directory: BytePath,
    resolve: (BytePath) -> BytePath
  ) throws(ConfigurationError) -> Configuration {
    let context = DecodingContext(file: file, directory: directory)
    let root = try TableReader.root(of: bytes, limit: maximumSize, context: context)
    let draft = ConfigurationDraft(from: root)
    draft.checkNames(in: context)
    draft.checkAnswers(in: context)
    draft.checkOrder(in: context)
    draft.checkRoutes(in: context)
    let configuration = Configuration(
      file: file,
      bytes: bytes,
      broker: draft.broker,
      library: draft.library,
      dropFolders: draft.dropFolders,
      destinations: draft.destinationsWithFolders(in: context, resolve: resolve),
      callbacks: draft.callbacks,
      writers: WriterProfile.builtIn.replaced(by: draft.writers),
      places: context.places
    )
    FolderOverlap(configuration, resolve: resolve).check(in: context)
    if let error = context.error { throw error }
    return configuration
  }

  /// Every key that a configuration file may have, by the shape of its path
  /// (`drop_folder.quiet`, `destination.*.retry.for`).
  static func knownKeys() -> Set<String> {
    let context = DecodingContext(file: "", directory: "/")
    let empty = TOMLNode(content: .table([]), place: .start)
    let name = TOMLMember(key: "x", place: .start, node: empty)
    func member(_ key: String, _ content: TOMLNode.Content) -> TOMLMember {
      TOMLMember(key: key, place: .start, node: TOMLNode(content: content, place: .start))
    }
    let members = [
      member("drop_folder", .array([empty])),
      member("destination", .table([name])),
      member("callback", .table([name])),
      member("writer", .table([name])),
    ]
    _ = ConfigurationDraft(from: TableReader(members, path: "", shape: "", context: context))
    let keys = context.known.flatMap { shape, keys in
      keys.map { shape.isEmpty ? $0 : "\(shape).\($0)" }
    }
    return Set(keys)
  }
}

extension TableReader {
  /// The root table of a document.
  static func root(
    of bytes: [UInt8],
    limit: Int,
    context: DecodingContext
  ) throws(ConfigurationError) -> TableReader {
    guard bytes.count <= limit else {
      context.report("\(bytes.count) bytes, more than \(limit)", at: .start)
      throw ConfigurationError(problems: context.problems)
    }
    do throws(TOMLSyntaxError) {
      guard case .table(let members) = try TOMLParser.parse(bytes).content else {
        throw TOMLSyntaxError(message: "no table", place: .start)
      }
      return TableReader(members, path: "", shape: "", context: context)
    } catch {
      // What the parser quotes of the document has its escapes already.
      let parts = error.message.split(separator: "\\", omittingEmptySubsequences: false)
      let text = parts.map { BytePath(String($0)).displayText }.joined(separator: "\\")
      context.report(text, at: error.place)
      throw ConfigurationError(problems: context.problems)
    }
  }
}
