import HandoffCore
import HandoffProtocol
import Paths

/// A configuration whose parts are decoded but do not know each other yet.
struct ConfigurationDraft {
  var broker: BrokerSettings
  var library: LibrarySettings
  var dropFolders: [DropFolderSettings] = []
  var destinations: [DestinationSettings] = []
  var callbacks: [CallbackID: CallbackSettings] = [:]
  var writers: [WriterProfile] = []

  init(from root: TableReader) {
    broker = BrokerSettings(from: root.table("broker"))
    library = LibrarySettings(from: root.table("library"))
    for reader in root.tables("drop_folder") {
      dropFolders.append(DropFolderSettings(from: reader))
    }
    for (text, reader) in root.namedTables("destination") {
      let name = DestinationName(text)
      if name == nil { Self.reportName(text, in: reader) }
      guard let placeholder = name ?? DestinationName("invalid") else { continue }
      let settings = DestinationSettings(name: placeholder, from: reader)
      if name != nil { destinations.append(settings) }
    }
    for (text, reader) in root.namedTables("callback") {
      let id = CallbackID(text)
      if id == nil { Self.reportName(text, in: reader) }
      guard let placeholder = id ?? CallbackID("invalid") else { continue }
      let settings = CallbackSettings(id: placeholder, from: reader)
      if let id { callbacks[id] = settings }
    }
    for (text, reader) in root.namedTables("writer") {
      if !Self.isName(text) { Self.reportName(text, in: reader) }
      writers.append(WriterProfile(name: text, from: reader))
    }
    let known = WriterProfile.builtIn.replaced(by: writers)
    for index in dropFolders.indices { dropFolders[index].writers = known }
    root.finish()
  }

  /// What may name a destination may name a writer.
  private static func isName(_ text: String) -> Bool { DestinationName(text) != nil }

  private static func reportName(_ text: String, in reader: TableReader) {
    reader.context.report(
      "\(text.quoted) is no name: 1 to 64 of a-z, A-Z, 0-9, _ and -, not beginning with -",
      at: reader.path
    )
  }

  /// Every destination and callback that is named must be there.
  func checkNames(in context: DecodingContext) {
    for (index, folder) in dropFolders.enumerated() {
      let path = "drop_folder[\(index)]"
      check(folder.handoff, at: "\(path).handoff", in: context)
      check(folder.syncPublishTo, at: "\(path).sync_publish_to", in: context)
      check(folder.callback, at: "\(path).callback", in: context)
    }
    for destination in destinations {
      check(destination.after, at: "destination.\(destination.name).after", in: context)
    }
    check(broker.alert, at: "broker.alert", in: context)
  }

  private func check(_ names: [DestinationName], at path: String, in context: DecodingContext) {
    let known = destinations.map(\.name)
    for (index, name) in names.enumerated() where !known.contains(name) {
      let nearest = NearestKey.of(name.text, among: known.map(\.text))
      let hint = nearest.map { "; did you mean \($0)?" } ?? ""
      context.report(
        "\(path): there is no [destination.\(name)]\(hint)",
        at: "\(path)[\(index)]"
      )
    }
  }

  private func check(_ id: CallbackID?, at path: String, in context: DecodingContext) {
    guard let id, callbacks[id] == nil else { return }
    // An id whose table is wrong has been reported there.
    if context.places["callback.\(id)"] != nil { return }
    let nearest = NearestKey.of(id.text, among: callbacks.keys.map(\.text))
    let hint = nearest.map { "; did you mean \($0)?" } ?? ""
    context.report("\(path): there is no [callback.\(id)]\(hint)", at: path)
  }

  /// A result that is sent back needs a place where it is taken.
  func checkAnswers(in context: DecodingContext) {
    guard broker.listen == nil else { return }
    for destination in destinations
    where destination.transport == .http && destination.answer == .callback {
      let path = "destination.\(destination.name).answer"
      context.report(
        "\(path): \"callback\" needs [broker] listen, which is empty: nothing can be sent back",
        at: path
      )
    }
  }

  /// Destinations that wait for each other in a circle would wait for ever.
  func checkOrder(in context: DecodingContext) {
    let after = Dictionary(destinations.map { ($0.name, $0.after) }) { first, _ in first }
    for destination in destinations {
      var chains = destination.after.map { [$0] }
      var seen: Set<DestinationName> = []
      while let chain = chains.popLast(), let next = chain.last {
        if next == destination.name {
          let path = "destination.\(destination.name).after"
          let others = chain.dropLast().map(\.text).joined(separator: ", ")
          let through = others.isEmpty ? "" : ", through \(others)"
          context.report("\(path): it waits for itself\(through)", at: path)
          break
        }
        if seen.insert(next).inserted { chains += (after[next] ?? []).map { chain + [$0] } }
      }
    }
  }

  /// The destinations, with each folder of `folders` written as its drop folder is.
  func destinationsWithFolders(
    in context: DecodingContext,
    resolve: (BytePath) -> BytePath
  ) -> [DestinationSettings] {
    let paths = dropFolders.map(\.path).filter { !$0.isEmpty }
    let known = Dictionary(paths.map { (resolve($0), $0) }) { first, _ in first }
    return destinations.map { destination in
      var destination = destination
      let path = "destination.\(destination.name).folders"
      destination.folders = destination.folders.enumerated().compactMap { index, folder in
        if let configured = known[resolve(folder)] { return configured }
        if folder == context.absolute(Sighting.byHand.lossyText) { return Sighting.byHand }
        context.report(
          "\(path): \(folder.displayText) is no drop folder of this configuration",
          at: "\(path)[\(index)]"
        )
        return nil
      }
      return destination
    }
  }
}
