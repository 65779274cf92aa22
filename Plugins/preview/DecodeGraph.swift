import Paths

/// The filter graph of the pass over the whole file.
///
/// Every number in it is from a file's facts or from the settings; no text of a file comes into it.
struct DecodeGraph: Sendable {
  static let proxyPicture = "[proxy]"
  static let proxySound = "[sound]"
  static let tiles = "[tiles]"
  private static let silentPicture = "[measured]"
  private static let silentSound = "[heard]"

  let source: Source
  let settings: PreviewSettings
  let features: FFmpegFeatures
  /// Of the proxy; without one, of the picture that is measured.
  let size: PictureSize
  /// Nil where the setting is off.
  let storyboard: Storyboard?

  init(source: Source, settings: PreviewSettings, features: FFmpegFeatures) {
    self.source = source
    self.settings = settings
    self.features = features
    size = source.size.fitted(short: settings.proxy ? settings.proxyHeight : 360, isEven: true)
    storyboard =
      settings.storyboard ? Storyboard(duration: source.duration, size: source.size) : nil
  }

  /// Seconds of one piece of the sound: a column of the waveform, a tenth of a second at most.
  var pieceLength: Double {
    Double(samplesInPiece) / Double(source.report.audio.first { isHeard($0.index) }?.rate ?? 48_000)
  }

  /// Sound is in the proxy, or measured.
  var hasSound: Bool { !source.soundTracks.isEmpty }

  /// The picture goes nowhere, but has to be decoded.
  var measured: [String] { settings.proxy || storyboard != nil ? [] : [Self.silentPicture] }
  /// The sound that is measured goes nowhere.
  var heard: [String] { hasSound && measuresSound ? [Self.silentSound] : [] }

  /// The timecode goes into the picture.
  var burnsTimecode: Bool { settings.proxy && settings.burnTimecode && features.font != nil }

  var text: String { ([picture] + branches + sound).joined(separator: ";") }

  var measuresSound: Bool {
    settings.waveform || settings.loudness || settings.qualityChecks
  }

  private var picture: String {
    let upright = PictureFilters(video: source.video, size: size, features: features)
    let detectors =
      settings.qualityChecks ? ["blackdetect=d=0.01", "freezedetect=n=-60dB:d=2"] : []
    let filters =
      [upright.chain, "metadata=delete"] + detectors
      + ["metadata=add:key=f:value=1", Self.printing("metadata", 4)]
    let ends =
      switch (settings.proxy, storyboard != nil) {
      case (true, true): ",split=2[p][s]"
      case (true, false): "[p]"
      case (false, true): "[s]"
      case (false, false): Self.silentPicture
      }
    return "[0:\(source.pictureTrack)]" + filters.joined(separator: ",") + ends
  }

  private var branches: [String] {
    var branches: [String] = []
    if settings.proxy {
      let filters = constantRate + timecode
      branches.append("[p]\(filters.isEmpty ? "null" : filters.joined(separator: ","))[proxy]")
    }
    if let storyboard {
      let (interval, tile) = (storyboard.interval, storyboard.tile)
      branches.append(
        "[s]fps=\(interval.denominator)/\(interval.numerator):round=near:eof_action=pass,"
          + "scale=\(tile.width):\(tile.height):flags=area:in_color_matrix=bt709"
          + ":out_color_matrix=bt601:out_range=pc,format=yuvj420p,metadata=add:key=f:value=1,"
          + Self.printing("metadata", 5) + ",tile=\(storyboard.columns)x\(storyboard.rows)[tiles]"
      )
    }
    return branches
  }

  private var sound: [String] {
    guard hasSound, settings.proxy || measuresSound else { return [] }
    let tracks = source.soundTracks.map { "[0:\($0)]" }.joined()
    let pair = source.soundTracks.count == 2 ? "join=inputs=2:channel_layout=stereo," : ""
    // Mixing one channel to two would make it 3 dB quieter.
    let both = isMono ? "pan=stereo|c0=c0|c1=c0" : "aformat=channel_layouts=stereo"
    let forProxy = "aresample=48000:async=1,\(both)[sound]"
    var measuring =
      "asetnsamples=n=\(samplesInPiece):p=0,astats=reset=1:metadata=1:measure_perchannel=none"
      + ":measure_overall=Peak_level+RMS_level+Flat_factor," + Self.printing("ametadata", 6)
    if settings.loudness {
      measuring += ",ebur128=peak=true:metadata=1," + Self.printing("ametadata", 7)
    }
    measuring += Self.silentSound
    if !settings.proxy { return [tracks + pair + measuring] }
    if !measuresSound { return [tracks + pair + forProxy] }
    return ["\(tracks)\(pair)asplit=2[a][b]", "[a]" + forProxy, "[b]" + measuring]
  }

  private static func printing(_ filter: String, _ descriptor: Int) -> String {
    "\(filter)=print:file='pipe\\:\(descriptor)'"
  }

  /// For rates that browsers do not play smoothly, and for files that say nothing usable.
  private var constantRate: [String] {
    let nominal = Fraction(source.video.nominalFrameRate)?.value ?? 0
    guard nominal > 60.5 || nominal == 0 else { return [] }
    let average = source.video.frameRate ?? 0
    return ["fps=\(average > 0 && average <= 60 ? "\(average)" : "60")"]
  }

  private var timecode: [String] {
    guard burnsTimecode, let font = features.font else { return [] }
    let height = max(12, min(size.width, size.height) / 18)
    let place = "x=(w-tw)/2:y=h-th*2"
    let rate = Fraction(source.video.nominalFrameRate)
    guard let rate, constantRate.isEmpty, rate.isNear(source.video.frameRate ?? 0) else {
      return [DrawnText(playedTimeIn: font, height: height, place: place).filter]
    }
    let start = source.report.timecode.flatMap { Timecode($0) } ?? Timecode.zero
    return [
      DrawnText(
        counting: rate.mayDropFrames ? start : start.withoutDropFrame,
        rate: rate,
        font: font,
        height: height,
        place: place
      ).filter
    ]
  }

  private func isHeard(_ index: Int) -> Bool { source.soundTracks.first == index }

  private var isMono: Bool {
    let heard = source.report.audio.first { isHeard($0.index) }
    return source.soundTracks.count == 1 && heard?.channels == 1
  }

  private var samplesInPiece: Int {
    let rate = source.report.audio.first { isHeard($0.index) }?.rate ?? 48_000
    let seconds = min(0.1, max(0.005, (source.duration ?? 60) / 1200))
    return max(32, Int(Double(rate) * seconds))
  }
}

extension MediaReport.Stream {
  /// Samples a second; nil where the file does not say.
  fileprivate var rate: Int? { sampleRate.flatMap { Int($0) }.flatMap { $0 > 0 ? $0 : nil } }
}
