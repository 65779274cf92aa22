import Glibc

/// What the filters say of the sound, as it goes by.
struct SoundReading: Sendable, Hashable {
  /// A short piece of the sound.
  struct Piece: Sendable, Hashable {
    /// Seconds.
    var start: Double
    /// 1 is full scale; larger for formats that have such values.
    var peak: Float = 0
    /// The mean power's root.
    var level: Float = 0
    /// Several samples one after the other are at full scale.
    var isClipped = false
  }

  private static let quiet: Float = 0.001
  private static let fullScale = -0.02

  /// Of one piece, in seconds.
  let length: Double
  private(set) var pieces: [Piece] = []
  private var integrated: Double?
  private var range: Double?
  private var truePeak: Double?

  init(length: Double) {
    self.length = length
  }

  /// Takes a line about a piece.
  mutating func takePiece(_ line: String) {
    switch MetadataLine(line) {
    case .frame(let time):
      let next = pieces.last.map { $0.start + length } ?? 0
      pieces.append(Piece(start: time ?? next))
    case .value("lavfi.astats.Overall.Peak_level", let text):
      change { $0.peak = Self.amplitude(text) }
    case .value("lavfi.astats.Overall.RMS_level", let text):
      change { $0.level = Self.amplitude(text) }
    case .value("lavfi.astats.Overall.Flat_factor", let text):
      let flat = Double(text) ?? 0
      change {
        $0.isClipped = flat.isFinite && flat > 0 && $0.peak >= Float(pow(10, Self.fullScale / 20))
      }
    case .value, nil: break
    }
  }

  /// Takes a line about the loudness so far.
  mutating func takeLoudness(_ line: String) {
    switch MetadataLine(line) {
    case .value("lavfi.r128.I", let text): integrated = Double(text)
    case .value("lavfi.r128.LRA", let text): range = Double(text)
    case .value("lavfi.r128.true_peak", let text): truePeak = Double(text)
    case .frame, .value, nil: break
    }
  }

  var end: Double { pieces.last.map { $0.start + length } ?? 0 }
  var isSilent: Bool { !pieces.contains { $0.peak >= Self.quiet } }

  /// Stretches of silence of at least so many seconds.
  func silent(atLeast seconds: Double) -> [Stretch] {
    stretches(gap: length / 2, shortest: seconds) { $0.peak < Self.quiet }
  }

  /// Where it is clipped.
  var clipped: [Stretch] { stretches(gap: 1, shortest: 0) { $0.isClipped } }

  /// By EBU R 128; nil where it was not measured.
  func loudness(of track: String) -> LoudnessFacts? {
    guard let integrated, integrated.isFinite else { return nil }
    func tenth(_ value: Double) -> Double { (value * 10).rounded() / 10 }
    let peak = truePeak.flatMap { $0 > 0 ? tenth(20 * log10($0)) : nil }
    return LoudnessFacts(
      of: track,
      // The measure's own floor, and what is too short to be measured.
      integrated: integrated <= -69.9 ? nil : tenth(integrated),
      range: integrated <= -69.9 || end < 3 ? nil : range.map(tenth),
      truePeak: peak,
      isSilent: isSilent
    )
  }

  private func stretches(
    gap: Double,
    shortest: Double,
    where isMeant: (Piece) -> Bool
  ) -> [Stretch] {
    let meant = pieces.lazy.filter(isMeant).map { Stretch(start: $0.start, end: $0.start + length) }
    return Stretch.joined(Array(meant), gap: gap, shortest: shortest)
  }

  private mutating func change(_ change: (inout Piece) -> Void) {
    if !pieces.isEmpty { change(&pieces[pieces.count - 1]) }
  }

  /// From decibels; `-inf` is none.
  private static func amplitude(_ text: String) -> Float {
    guard let decibels = Double(text), decibels.isFinite else { return 0 }
    return Float(pow(10, min(decibels, 200) / 20))
  }
}
