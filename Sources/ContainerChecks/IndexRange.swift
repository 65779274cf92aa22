/// The check that what the index points at is in the file.
package enum IndexRange {
  /// Compares the farthest packet of the indexes of all tracks with the file's size in bytes.
  package static func check(_ indexes: [IndexSummary], size: Int64) -> Finding {
    let places = indexes.compactMap(\.farthest)
    guard let farthest = places.max(by: { $0.end < $1.end }) else {
      return Finding(.notProvable, "no index says where the last packet is")
    }
    guard farthest.end <= size else {
      let missing = farthest.end == .max ? "far more than" : "\(farthest.end - size)"
      return Finding(.incomplete, "the index names packets \(missing) bytes past the file's end")
    }
    let count = indexes.reduce(0) { $0 + $1.count }
    return Finding(.passed, "none of \(count) packets reaches past the file's end")
  }
}
