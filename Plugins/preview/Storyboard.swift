/// The grid of small pictures, as it is planned from the duration.
struct Storyboard: Sendable, Hashable {
  static let track = "storyboard.vtt"
  private static let most = 100
  /// Of a file that is much longer than it says.
  static let mostSheets = 100
  private static let columnsOfFull = 10
  /// Seconds, as fractions.
  private static let intervals: [Interval] =
    [Interval(1, 5), Interval(1, 2)]
    + [1, 2, 3, 4, 5, 6, 8, 10, 12, 15, 20, 30, 45, 60, 90, 120, 180, 240, 300, 600].map {
      Interval($0, 1)
    }
  /// Where nobody knows the duration.
  private static let usual = Interval(2, 1)

  struct Interval: Sendable, Hashable {
    let numerator: Int
    let denominator: Int

    init(_ numerator: Int, _ denominator: Int) {
      (self.numerator, self.denominator) = (numerator, denominator)
    }

    var seconds: Double { Double(numerator) / Double(denominator) }
  }

  let interval: Interval
  let columns: Int
  let rows: Int
  let tile: PictureSize

  /// Plans at most about a hundred tiles.
  init(duration: Double?, size: PictureSize) {
    tile = size.scaled(toLonger: 160)
    guard let duration else {
      (interval, columns, rows) = (Self.usual, Self.columnsOfFull, Self.columnsOfFull)
      return
    }
    let last = Interval(max(600, Int((duration / Double(Self.most)).rounded(.up))), 1)
    interval = Self.intervals.first { duration / $0.seconds <= Double(Self.most) } ?? last
    let count = Self.tiles(in: duration, interval)
    columns = min(count, Self.columnsOfFull)
    rows = min(Self.columnsOfFull, (count + columns - 1) / columns)
  }

  /// How many tiles begin before the end.
  func tiles(in duration: Double) -> Int { Self.tiles(in: duration, interval) }

  private static func tiles(in duration: Double, _ interval: Interval) -> Int {
    max(1, Int(min(duration / interval.seconds - 1e-6, 1e6).rounded(.up)))
  }

  var sheetSize: PictureSize {
    PictureSize(width: columns * tile.width, height: rows * tile.height)
  }

  /// ffmpeg's pattern and what becomes of it.
  static let pattern = "storyboard%d.jpg"

  static func sheet(_ number: Int) -> String { "storyboard\(number + 1).jpg" }

  /// Whether a file has the name of a sheet, and not of something of somebody else.
  static func isSheet(_ name: String) -> Bool {
    let digits = name.dropFirst("storyboard".count).dropLast(".jpg".count)
    return Int(digits).map { $0 > 0 && sheet($0 - 1) == name } ?? false
  }

  func sheetCount(_ tiles: Int) -> Int { (tiles + columns * rows - 1) / (columns * rows) }

  /// The WebVTT file.
  func cues(_ count: Int, duration: Double) -> String {
    var text = "WEBVTT\n"
    for number in 0..<count {
      let start = Double(number) * interval.seconds
      let isLast = number == count - 1
      let end = isLast ? max(duration, start + 0.001) : start + interval.seconds
      let place = number % (columns * rows)
      let (x, y) = (place % columns * tile.width, place / columns * tile.height)
      text += "\n\(TimeText.cue(start)) --> \(TimeText.cue(end))\n"
      text += "\(Self.sheet(number / (columns * rows)))"
      text += "#xywh=\(x),\(y),\(tile.width),\(tile.height)\n"
    }
    return text
  }
}
