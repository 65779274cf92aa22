package import HandoffProtocol

/// What destinations wait for before an asset is handed off to them, as the configuration has it.
package struct HandingOrder: Hashable, Sendable {
  /// What one destination waits for.
  package struct Rule: Hashable, Sendable {
    /// Destinations that must have succeeded for the asset first.
    package var after: [DestinationName]
    /// The rendition that is given instead of the original; nil for the original.
    package var rendition: RenditionName?

    package init(after: [DestinationName], rendition: RenditionName?) {
      self.after = after
      self.rendition = rendition
    }
  }

  /// Only of destinations that wait for something.
  package private(set) var rules: [DestinationName: Rule] = [:]
  private var awaited: Set<DestinationName> = []

  package init(_ destinations: [DestinationSettings]) {
    for settings in destinations where !settings.after.isEmpty || settings.rendition != nil {
      rules[settings.name] = Rule(after: settings.after, rendition: settings.rendition)
      awaited.formUnion(settings.after)
    }
  }

  /// Nobody waits for anybody.
  package static let none = HandingOrder([])

  /// Some destination waits for this one.
  package func isAwaited(_ destination: DestinationName) -> Bool { awaited.contains(destination) }

  /// Destinations so that each comes behind those that it waits for; otherwise as they are given.
  package func sorted(_ names: [DestinationName]) -> [DestinationName] {
    var sorted: [DestinationName] = []
    var rest = names
    while !rest.isEmpty {
      // A circle is no configuration; the first of one goes as it is.
      let next = rest.firstIndex { name in
        rules[name]?.after.allSatisfy { !rest.contains($0) } ?? true
      }
      sorted.append(rest.remove(at: next ?? 0))
    }
    return sorted
  }
}
