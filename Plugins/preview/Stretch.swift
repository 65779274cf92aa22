/// A part of the video, in seconds from the beginning as played.
struct Stretch: Sendable, Hashable {
  var start: Double
  var end: Double

  var length: Double { end - start }

  /// The part of this one that others cover, 0 to 1.
  func covered(by others: [Stretch]) -> Double {
    let common = others.map { max(0, min(end, $0.end) - max(start, $0.start)) }
    return length > 0 ? common.reduce(0, +) / length : 0
  }

  /// Stretches of at least a length, those with hardly anything in between put together.
  static func joined(_ stretches: [Stretch], gap: Double, shortest: Double) -> [Stretch] {
    var joined: [Stretch] = []
    for stretch in stretches {
      if let last = joined.last, stretch.start - last.end <= gap {
        joined[joined.count - 1].end = max(last.end, stretch.end)
      } else {
        joined.append(stretch)
      }
    }
    return joined.filter { $0.length >= shortest }
  }
}
