/// Walks MP4, QuickTime and 3GP: top-level boxes that fill the file, a movie with samples.
enum ISOMedia {
  private static let boxLimit = 1_000_000
  /// No file system has smaller holes, so smaller padding need not be remembered.
  private static let leastHole: Int64 = 512

  static func report(_ source: ByteSource) throws -> StructureReport {
    do {
      return try walk(source)
    } catch let defect as ISOBox.Defect {
      return .incomplete(source, defect.detail)
    }
  }

  private static func walk(_ source: ByteSource) throws -> StructureReport {
    var movie: ISOMovie?
    var fragments = ISOFragments()
    var content: ISOBox?
    var padding: [Range<Int64>] = []
    var boxCount = 0
    var offset: Int64 = 0
    while offset < source.size {
      let box = try ISOBox.read(source, at: offset, limit: source.size, isOutermost: true)
      switch box.type {
      case "moov" where movie == nil: movie = try ISOMovie(source, box)
      case "moof": try fragments.add(source, box, movie)
      case "mfra": fragments.hasEnd = try ISOFragments.isWholeEnd(source, box)
      default: break
      }
      if !box.isPadding { content = box }
      if box.isPadding, box.size > leastHole { padding.append(box.content..<box.end) }
      offset = box.end
      boxCount += 1
      guard boxCount < boxLimit else { throw ISOBox.Defect(detail: "more than \(boxLimit) boxes") }
    }
    guard let movie else {
      throw ISOBox.Defect(
        detail: "no 'moov' box: an interrupted export, or one still being written"
      )
    }
    var report = try judge(source, movie, fragments, content)
    report.padding = padding
    return report
  }

  private static func judge(
    _ source: ByteSource,
    _ movie: ISOMovie,
    _ fragments: ISOFragments,
    _ content: ISOBox?
  ) throws -> StructureReport {
    if let place = movie.externalMedia { return .incomplete(source, place) }
    guard movie.sampleCount + fragments.sampleCount > 0 || movie.isCompressed else {
      return .incomplete(
        source,
        "the 'moov' box describes no sample: an initialisation segment only"
      )
    }
    let last = try content.map { try lastContent(source, $0) }
    var report = StructureReport(
      Finding(.passed, "the boxes fill the file"),
      contentEnd: last.map { $0.isPadding ? $0.offset : $0.end } ?? source.size,
      endsInMedia: last?.type == "mdat",
      encryption: movie.encryption
    )
    guard fragments.sampleCount > 0 else {
      report.needsIndex = true
      return report
    }
    report.tracks = fragments.tracks(movie)
    report.duration = fragments.duration(movie)
    // A movie that is both (samples in moov and fragments) needs the other index as well.
    report.needsIndex = movie.sampleCount > 0
    if !fragments.hasEnd {
      report.finding = Finding(
        .notProvable,
        "fragments fill the file, but nothing marks the last one (no 'mfra' box)"
      )
    }
    return report
  }

  /// The innermost last box: padding also hides at the end of `moov`.
  private static func lastContent(_ source: ByteSource, _ box: ISOBox) throws -> ISOBox {
    var box = box
    for _ in 0..<8 {
      guard ISOMovie.containers.contains(box.type) || box.type == "udta" else { return box }
      var last: ISOBox?
      do {
        try ISOBox.children(source, from: box.content, to: box.end) { last = $0 }
      } catch is ISOBox.Defect {
        // User data need not be boxes to the end; then the outer box is what can be said.
        return box
      }
      guard let last else { return box }
      box = last
    }
    return box
  }
}
