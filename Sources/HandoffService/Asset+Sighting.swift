import HandoffCore

extension Asset {
  /// This asset with one more sighting, which takes the place of an older one at the same path.
  func seen(at sighting: Sighting) -> Asset {
    var asset = self
    asset.sources.removeAll { $0.path == sighting.path }
    asset.sources.append(sighting)
    return asset
  }
}
