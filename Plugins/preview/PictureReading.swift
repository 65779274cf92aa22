/// What the filters say of the frames, as they go by.
struct PictureReading: Sendable, Hashable {
  /// Distances beyond that many different ones are not counted: the rate is variable anyway.
  private static let mostDistances = 4096

  private(set) var frameCount = 0
  private(set) var firstTime: Double?
  private var lastTime: Double?
  /// Distances between frames in tenths of a millisecond, and how often each is there.
  private var distances: [Int: Int] = [:]
  private var black: [Stretch] = []
  private var blackStart: Double?
  private var frozen: [Stretch] = []
  private var frozenStart: Double?

  mutating func take(_ line: String) {
    switch MetadataLine(line) {
    case .frame(let time):
      frameCount += 1
      if let time { note(time) }
    case .value("lavfi.black_start", let text): blackStart = Double(text)
    case .value("lavfi.black_end", let text):
      Self.close(&blackStart, at: Double(text), into: &black)
    case .value("lavfi.freezedetect.freeze_start", let text): frozenStart = Double(text)
    case .value("lavfi.freezedetect.freeze_end", let text):
      Self.close(&frozenStart, at: Double(text), into: &frozen)
    case .value, nil: break
    }
  }

  /// Seconds at which the last frame ends; nil without one.
  var end: Double? { lastTime.map { $0 + frameDistance } }

  /// The time of the last frame.
  var time: Double { lastTime ?? 0 }

  /// Stretches without a picture; what is black at the end ends there.
  var blackStretches: [Stretch] { closed(black, blackStart) }
  /// Stretches of one and the same picture.
  var frozenStretches: [Stretch] { closed(frozen, frozenStart) }

  /// More than a twentieth of the frames is not at the usual distance.
  var isVariable: Bool {
    let usual = frameDistance
    let total = distances.values.reduce(0, +)
    guard total >= 4, usual > 0 else { return false }
    // Containers with times in milliseconds round.
    let tolerance = max(usual * 0.2, 0.0016)
    let odd = distances.filter { abs(Double($0.key) / 10_000 - usual) > tolerance }.values
      .reduce(0, +)
    return Double(odd) > Double(total) * 0.05
  }

  /// The usual distance between frames, in seconds: the median.
  private var frameDistance: Double {
    let total = distances.values.reduce(0, +)
    var seen = 0
    for (distance, count) in distances.sorted(by: { $0.key < $1.key }) {
      seen += count
      if seen * 2 >= total { return Double(distance) / 10_000 }
    }
    return 0.04
  }

  private mutating func note(_ time: Double) {
    if firstTime == nil { firstTime = time }
    if let lastTime {
      let distance = Int((min(max(time - lastTime, -1), 1e6) * 10_000).rounded())
      if distances.count < Self.mostDistances || distances[distance] != nil {
        distances[distance, default: 0] += 1
      }
    }
    lastTime = max(time, lastTime ?? time)
  }

  private static func close(_ start: inout Double?, at end: Double?, into list: inout [Stretch]) {
    if let begun = start, let end, list.count < 10_000 {
      list.append(Stretch(start: begun, end: end))
    }
    start = nil
  }

  private func closed(_ stretches: [Stretch], _ start: Double?) -> [Stretch] {
    guard let start, let end, end > start else { return stretches }
    return stretches + [Stretch(start: start, end: end)]
  }
}
