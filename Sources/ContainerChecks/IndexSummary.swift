/// Where one packet lies in the file.
package struct PacketPlace: Hashable, Sendable {
  /// In bytes from the file's start.
  package let offset: Int64
  /// In bytes.
  package let size: Int64

  package init(offset: Int64, size: Int64) {
    self.offset = offset
    self.size = size
  }

  /// The first byte after it, or the largest number where that overflows.
  package var end: Int64 {
    let (end, overflow) = offset.addingReportingOverflow(size)
    return overflow ? .max : end
  }
}

/// What the checks need of an index: its ends and a few places between, however long it is.
package struct IndexSummary: Hashable, Sendable {
  /// Packets, empty ones too.
  package private(set) var count = 0
  package private(set) var first: PacketPlace?
  package private(set) var last: PacketPlace?
  /// The packet that ends nearest to the file's end.
  package private(set) var farthest: PacketPlace?
  /// A few packets spread over the index.
  package private(set) var spread: [PacketPlace] = []
  private var stride = 1
  private var filled = 0

  private static let spreadLimit = 8

  package init() {}

  /// Takes the next entry in the order of the index.
  ///
  /// Empty packets (dropped frames) are only counted.
  package mutating func add(_ place: PacketPlace) {
    count += 1
    guard place.size > 0 else { return }
    if first == nil { first = place }
    last = place
    if farthest.map({ $0.end < place.end }) ?? true { farthest = place }
    defer { filled += 1 }
    guard filled % stride == 0 else { return }
    if spread.count == Self.spreadLimit {
      spread = spread.enumerated().filter { $0.offset % 2 == 0 }.map(\.element)
      stride *= 2
      guard filled % stride == 0 else { return }
    }
    spread.append(place)
  }
}

/// One track as its container has it.
package struct TrackIndex: Hashable, Sendable {
  /// What it carries.
  package enum Kind: Hashable, Sendable {
    case video
    case audio
    /// Subtitles, time code, metadata.
    case other
  }

  package var kind: Kind
  /// The container's own name of the codec: `avc1`, `V_VP9`.
  package var codec: String
  package var packets: IndexSummary
  /// When the first packet is due, in seconds.
  package var start: Double?
  /// When the last packet ends, in seconds.
  package var end: Double?

  package init(
    kind: Kind,
    codec: String,
    packets: IndexSummary = IndexSummary(),
    start: Double? = nil,
    end: Double? = nil
  ) {
    self.kind = kind
    self.codec = codec
    self.packets = packets
    self.start = start
    self.end = end
  }
}
