/// Walks Matroska and WebM (RFC 9559): a segment that fills the file, clusters that can be read.
struct MatroskaFile {
  /// Element identifiers of RFC 9559.
  enum ID {
    static let header: UInt32 = 0x1a45_dfa3
    static let segment: UInt32 = 0x1853_8067
    static let info: UInt32 = 0x1549_a966
    static let tracks: UInt32 = 0x1654_ae6b
    static let cluster: UInt32 = 0x1f43_b675
    static let cues: UInt32 = 0x1c53_bb6b
    static let void: UInt32 = 0xec
    static let others: Set<UInt32> = [0x114d_9b74, 0x1941_a469, 0x1043_a770, 0x1254_c367, 0xbf]

    static func isTopLevel(_ id: UInt32) -> Bool {
      [info, tracks, cluster, cues, void].contains(id) || others.contains(id)
    }
  }

  private let source: ByteSource
  private var info = MatroskaHeaders()
  private var clusters = ClusterList()
  private var hasCues = false
  private var lastTopLevel: EBMLElement?

  /// The `DocType` in the EBML header: `matroska`, `webm`; nil where there is none.
  static func documentType(_ source: ByteSource) throws -> String? {
    var type: String?
    do {
      let header = try EBMLElement.read(source, at: 0, limit: source.size)
      let end = header.end(limit: source.size)
      try EBMLElement.children(source, from: header.content, to: end) {
        if $0.id == 0x4282 { type = try $0.text(source) }
      }
    } catch is EBMLElement.Defect {
      // The walk, which comes next, says what is wrong with it.
      return type
    }
    return type
  }

  static func report(_ source: ByteSource) throws -> StructureReport {
    var file = MatroskaFile(source: source)
    do {
      return try file.walk()
    } catch let defect as EBMLElement.Defect {
      return .incomplete(source, defect.detail)
    }
  }

  private init(source: ByteSource) {
    self.source = source
  }

  private mutating func walk() throws -> StructureReport {
    let header = try EBMLElement.read(source, at: 0, limit: source.size)
    let segment = try EBMLElement.read(
      source,
      at: header.end(limit: source.size),
      limit: source.size
    )
    guard segment.id == ID.segment else {
      throw EBMLElement.Defect(detail: "no segment after the EBML header")
    }
    let end = segment.end(limit: source.size)
    try walkSegment(from: segment.content, to: end)
    guard clusters.count > 0 else { return .incomplete(source, "no cluster: no media data yet") }
    try clusters.readEnds(source, info)
    var report = StructureReport(
      Finding(.passed, "the segment fills the file"),
      contentEnd: contentEnd(end),
      endsInMedia: lastTopLevel?.id == ID.cluster,
      encryption: info.encryption,
      tracks: clusters.tracks(info),
      duration: clusters.duration(info)
    )
    if segment.size == nil { report.finding = live() }
    return report
  }

  private mutating func walkSegment(from start: Int64, to end: Int64) throws {
    var offset = start
    while offset < end {
      let element = try EBMLElement.read(source, at: offset, limit: end)
      var next = element.end(limit: end)
      switch element.id {
      case ID.info: try info.takeInfo(source, element)
      case ID.tracks: try info.takeTracks(source, element)
      case ID.cues:
        try EBMLElement.children(source, from: element.content, to: next) { _ in }
        hasCues = true
      case ID.cluster:
        if element.size == nil { next = try ClusterList.findEnd(source, element, limit: end) }
        clusters.add(element.content, next)
      case let id where id == ID.void || ID.others.contains(id): break
      default:
        // Unknown elements are allowed, but a stray identifier of fewer bytes is no element of this level.
        guard element.id > 0xff_ffff else {
          throw EBMLElement.Defect(detail: "no element where one should be, at \(offset)")
        }
      }
      if element.id != ID.void { lastTopLevel = element }
      offset = next
    }
  }

  /// Padding at the end of the segment, if the segment ends the file.
  private func contentEnd(_ end: Int64) -> Int64 {
    guard end == source.size, let last = lastTopLevel, last.size != nil else { return source.size }
    return last.end(limit: end)
  }

  /// The segment's size was never written: a recording that was not closed, or one that goes on.
  private func live() -> Finding {
    if let reason = DurationCheck.shortfall(
      declared: info.duration,
      seen: clusters.duration(info)
    ) {
      return Finding(.incomplete, reason)
    }
    return Finding(.notProvable, "the segment has no size: a live recording declares no end")
  }
}
