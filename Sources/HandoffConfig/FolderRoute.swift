package import HandoffCore
package import HandoffProtocol
package import Paths

/// Where an export goes: what follows from its folder's settings and its sidecar.
package struct FolderRoute: Hashable, Sendable {
  /// One destination of the export.
  package struct Choice: Hashable, Sendable {
    package var destination: DestinationName
    /// It is there because the box was ticked.
    package var syncPublish: Bool

    package init(_ destination: DestinationName, syncPublish: Bool) {
      self.destination = destination
      self.syncPublish = syncPublish
    }
  }

  /// In the folder's order, those of the box last; each destination once.
  package var choices: [Choice]
  package var title: String
  package var callbackID: CallbackID?
  package var publishAt: PublishMoment?
  package var metadata: JSONValue?

  /// Finds the route.
  ///
  /// - Parameters:
  ///   - export: the export's path; the stem of its name is the default title.
  ///   - folder: the drop folder that holds it.
  ///   - sidecar: nil where it has none.
  ///   - wasThereBefore: it was in the folder when that was seen for the first time; then the box counts
  ///     as not ticked, whatever a sidecar says.
  ///   - isPackage: it is a directory of exports, whose whole name is the default title.
  package init(
    export: BytePath,
    folder: DropFolderSettings,
    sidecar: Sidecar?,
    wasThereBefore: Bool = false,
    isPackage: Bool = false
  ) {
    choices = Self.choices(folder: folder, sidecar: sidecar, mayPublish: !wasThereBefore)
    title = sidecar?.title ?? Self.defaultTitle(isPackage ? export.lastComponent : export.stem)
    callbackID = sidecar?.callbackID ?? folder.callback
    publishAt = sidecar?.publishAt
    metadata = sidecar?.requestMetadata
  }

  /// The orders to place for an asset, still without the moment of ``publishAt``.
  package func orders(for localIdentifiers: [LocalIdentifier]) -> [HandoffOrder] {
    choices.map { choice in
      var order = HandoffOrder(
        destination: choice.destination,
        localIdentifiers: localIdentifiers,
        isAutomatic: true
      )
      order.title = title
      order.syncPublish = choice.syncPublish
      order.callbackID = callbackID
      order.metadata = metadata
      return order
    }
  }

  private static func choices(
    folder: DropFolderSettings,
    sidecar: Sidecar?,
    mayPublish: Bool
  ) -> [Choice] {
    let isTicked = sidecar.map { $0.syncPublish ?? false } ?? folder.publishByDefault
    let named = sidecar?.handoff
    let plain = folder.handoff.filter { named?.contains($0) ?? true }
    // A sidecar that names some of the box's destinations means these; one that names none, all.
    let namedOfBox = folder.syncPublishTo.filter { named?.contains($0) ?? false }
    let ofBox = namedOfBox.isEmpty ? folder.syncPublishTo : namedOfBox
    let published = isTicked && mayPublish ? ofBox : []
    return plain.filter { !published.contains($0) }.map { Choice($0, syncPublish: false) }
      + published.map { Choice($0, syncPublish: true) }
  }

  /// A name as text, cut to what a title may have.
  package static func defaultTitle(_ name: BytePath) -> String {
    var title = name.lossyText
    while title.utf8.count > Sidecar.maximumTitle { title.removeLast() }
    return title
  }
}
