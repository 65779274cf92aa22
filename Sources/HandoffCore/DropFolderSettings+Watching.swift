extension DropFolderSettings {
  /// What it says of watching and settling, with everything else as by default: where two are the same,
  /// one folder can go on under the other without being looked at anew.
  package var watchingAlone: DropFolderSettings {
    let other = DropFolderSettings(path: path)
    var alone = self
    alone.original = other.original
    alone.originalWaitsForHandoffs = other.originalWaitsForHandoffs
    alone.moveTo = other.moveTo
    alone.handoff = other.handoff
    alone.syncPublishTo = other.syncPublishTo
    alone.publishByDefault = other.publishByDefault
    alone.onSupersede = other.onSupersede
    alone.callback = other.callback
    return alone
  }
}
