import HandoffCore
import HandoffProtocol
import Paths

/// Finds folders that must lie apart and do not: what the broker or a plugin writes would come back as
/// an export, or a plugin could change what the broker owns.
struct FolderOverlap {
  /// A folder by what it is for, as written and with symbolic links resolved.
  private struct Folder {
    var what: String
    var key: String
    var resolved: BytePath
  }

  private let dropFolders: [Folder]
  /// The broker's own.
  private let owned: [Folder]
  /// Written by receivers or filled with originals.
  private let outputs: [Folder]
  /// Where exports that were moved away go: they may lie above the other folders, not inside one.
  private let moveTargets: [Folder]
  private let inputs: [Folder]
  /// Named in settings of plugins; most likely where they write.
  private let named: [Folder]

  init(_ configuration: Configuration, resolve: (BytePath) -> BytePath) {
    func folder(_ what: String, _ path: BytePath, _ key: String) -> Folder {
      Folder(what: what, key: key, resolved: resolve(path))
    }
    dropFolders = configuration.dropFolders.enumerated().compactMap { index, settings in
      settings.path.isEmpty
        ? nil : folder("the drop folder", settings.path, "drop_folder[\(index)].path")
    }
    moveTargets = configuration.dropFolders.enumerated().compactMap { index, settings in
      settings.moveTo.map { folder("the folder of originals", $0, "drop_folder[\(index)].move_to") }
    }
    owned = [
      folder("the library", configuration.library.path, "library.path"),
      folder("the state folder", configuration.broker.state, "broker.state"),
    ]
    var outputs: [Folder] = []
    var inputs: [Folder] = []
    for destination in configuration.destinations {
      let key = "destination.\(destination.name)"
      for (index, path) in destination.write.enumerated() {
        outputs.append(folder("the output of \(destination.name)", path, "\(key).write[\(index)]"))
      }
      if let inbox = destination.inbox {
        outputs.append(folder("the inbox of \(destination.name)", inbox, "\(key).inbox"))
      }
      for (index, path) in destination.read.enumerated() {
        inputs.append(folder("what \(destination.name) reads", path, "\(key).read[\(index)]"))
      }
    }
    for callback in configuration.callbacks.values.sorted(by: { $0.id.text < $1.id.text }) {
      // A notice of a refused export that is itself refused would be told, and so on.
      guard case .file(let path) = callback.action else { continue }
      let key = "callback.\(callback.id).file"
      outputs.append(folder("the file of callback \(callback.id)", path, key))
    }
    self.outputs = outputs
    self.inputs = inputs
    named = configuration.destinations.flatMap { destination in
      let key = "destination.\(destination.name).settings"
      return Self.paths(in: destination.settings).map { path in
        folder("a folder in the settings of \(destination.name)", path, key)
      }
    }
  }

  func check(in context: DecodingContext) {
    checkDuplicates(in: context)
    for folder in dropFolders {
      for other in owned + outputs { apart(other, folder, in: context) }
      for name in named where name.resolved.isInside(folder.resolved) {
        report(name, "is inside", folder, in: context)
      }
      for target in moveTargets where target.resolved.isInside(folder.resolved) {
        report(target, "is inside", folder, in: context)
      }
    }
    for own in owned {
      for other in outputs + inputs { apart(other, own, in: context) }
      for target in moveTargets where target.resolved.isInside(own.resolved) {
        report(target, "is inside", own, in: context)
      }
    }
    if owned[0].resolved == owned[1].resolved { report(owned[1], "is", owned[0], in: context) }
  }

  /// The texts of a value that are absolute paths.
  private static func paths(in value: JSONValue) -> [BytePath] {
    switch value {
    case .string(let text): text.hasPrefix("/") ? [BytePath(text)] : []
    case .array(let elements): elements.flatMap(paths)
    case .object(let members): members.sorted { $0.key < $1.key }.flatMap { paths(in: $0.value) }
    case .null, .bool, .integer, .number: []
    }
  }

  private func checkDuplicates(in context: DecodingContext) {
    for (index, folder) in dropFolders.enumerated() {
      let isKnown = dropFolders[..<index].contains { $0.resolved == folder.resolved }
      guard isKnown else { continue }
      context.report(
        "\(folder.key): \(folder.resolved.displayText) is a drop folder already",
        at: folder.key
      )
    }
  }

  private func apart(_ folder: Folder, _ other: Folder, in context: DecodingContext) {
    if folder.resolved.isInside(other.resolved) {
      report(folder, "is inside", other, in: context)
    } else if other.resolved.isInside(folder.resolved) {
      report(other, "is inside", folder, in: context)
    }
  }

  private func report(
    _ folder: Folder,
    _ relation: String,
    _ other: Folder,
    in context: DecodingContext
  ) {
    let left = "\(folder.what) (\(folder.resolved.displayText))"
    let right = "\(other.what) (\(other.resolved.displayText))"
    // A folder that only has its default place stands nowhere: then the other one is shown.
    let key = context.places[folder.key] == nil ? other.key : folder.key
    context.report("\(key): \(left) \(relation) \(right)", at: key)
  }
}
