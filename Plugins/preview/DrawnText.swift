import Paths

/// Text in a picture: ffmpeg's `drawtext`.
///
/// The text is put together from numbers here, never from what a file says.
struct DrawnText: Sendable {
  let filter: String

  /// Fixed text.
  init(_ text: String, font: BytePath, height: Int, place: String) {
    self.init("text='\(Self.escaped(text))'", font: font, height: height, place)
  }

  /// A timecode that counts with the frames.
  ///
  /// The rate is frames a second; with those of NTSC a drop-frame timecode drops right.
  init(counting timecode: Timecode, rate: Fraction, font: BytePath, height: Int, place: String) {
    let counter =
      "timecode='\(Self.escaped(timecode.description))':timecode_rate=\(rate.numerator)/\(rate.denominator)"
    self.init(counter, font: font, height: height, place)
  }

  /// The time as played, for videos whose frames cannot be counted.
  init(playedTimeIn font: BytePath, height: Int, place: String) {
    self.init("text='%{pts\\:hms}'", font: font, height: height, place)
  }

  private init(_ text: String, font: BytePath, height: Int, _ place: String) {
    // Nothing in the name of a font file ends the quotes.
    let file = font.lossyText.filter { $0 != "'" }
    filter =
      "drawtext=\(text):fontfile='\(Self.escaped(file))':fontsize=\(height):fontcolor=white"
      + ":box=1:boxcolor=black@0.55:boxborderw=3:\(place)"
  }

  private static func escaped(_ text: String) -> String {
    text.reduce(into: "") { $0 += $1 == ":" ? "\\:" : String($1) }
  }
}

/// Times as people read them.
enum TimeText {
  /// `1:02:03`, `2:03`, or with tenths of a second `2:03.4`.
  static func clock(_ seconds: Double, hasTenths: Bool = false) -> String {
    let tenths = Int64((max(0, min(seconds, 1e9)) * 10).rounded(.down))
    let whole = tenths / 10
    let end = ":\(two(whole % 60))" + (hasTenths ? ".\(tenths % 10)" : "")
    let minutes = whole / 60
    return minutes < 60 ? "\(minutes)\(end)" : "\(minutes / 60):\(two(minutes % 60))\(end)"
  }

  /// `00:02:03.400`, as WebVTT wants it.
  static func cue(_ seconds: Double) -> String {
    let whole = Int64((max(0, min(seconds, 1e9)) * 1000).rounded())
    let thousandths = String(whole % 1000 + 1000).dropFirst()
    return
      "\(two(whole / 3_600_000)):\(two(whole / 60_000 % 60)):\(two(whole / 1000 % 60)).\(thousandths)"
  }

  private static func two(_ value: Int64) -> String { (value < 10 ? "0" : "") + "\(value)" }
}
