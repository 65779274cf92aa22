/// The check that the whole file was written.
package enum HoleCheck {
  /// Judges by where the kernel says that holes are (`SEEK_HOLE`, lseek(2)), without the virtual one at
  /// the file's end.
  ///
  /// A hole in padding hides nothing: whoever leaves room in a file may leave it unwritten.
  package static func check(_ holes: [Range<Int64>], padding: [Range<Int64>]) -> Finding {
    let unwritten = holes.first { hole in
      !padding.contains { $0.lowerBound <= hole.lowerBound && hole.upperBound <= $0.upperBound }
    }
    guard let unwritten else {
      return Finding(.passed, holes.isEmpty ? "no hole" : "holes only in padding")
    }
    return Finding(
      .incomplete,
      "nothing is written from \(unwritten.lowerBound) to \(unwritten.upperBound)"
    )
  }
}
