import HandoffCore
import HandoffProtocol

extension ConfigurationDraft {
  /// What a folder hands off to one destination has to go to those that this one waits for, too: else each
  /// of its handoffs would fail.
  ///
  /// Ticking the box makes the handoffs of `handoff` besides, so these may wait for each other, and those
  /// of `sync_publish_to` for both.
  func checkRoutes(in context: DecodingContext) {
    for (index, folder) in dropFolders.enumerated() {
      let path = "drop_folder[\(index)]"
      check(folder.handoff, "\(path).handoff", among: folder.handoff, in: context)
      check(
        folder.syncPublishTo,
        "\(path).sync_publish_to",
        among: folder.handoff + folder.syncPublishTo,
        in: context
      )
    }
  }

  private func check(
    _ names: [DestinationName],
    _ path: String,
    among route: [DestinationName],
    in context: DecodingContext
  ) {
    for (index, name) in names.enumerated() {
      guard let settings = destinations.first(where: { $0.name == name }) else { continue }
      for awaited in settings.after where awaited != name && !route.contains(awaited) {
        context.report(
          "\(path): \(name) waits for \(awaited) (after), to which this folder hands nothing off; "
            + "name \(awaited) too",
          at: "\(path)[\(index)]"
        )
      }
    }
  }
}
