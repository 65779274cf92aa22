import HandoffPluginKit
import HandoffProtocol
import Paths

/// The destination's settings.
struct PreviewSettings: Sendable, Decodable {
  /// Where the previews go; absolute.
  var folder: BytePath
  /// Make a small video that browsers play.
  var proxy = true
  /// The longer side is 16/9 of it at most, the shorter one this.
  var proxyHeight = 720
  /// x264's constant quality: less is better and larger.
  var proxyQuality = 23
  /// Kilobits a second that the picture of the proxy may have at most; nil for no bound.
  var proxyBitrate: Int?
  var burnTimecode = false
  var storyboard = true
  var waveform = true
  var loudness = true
  /// Black, frozen, silent and clipped stretches, damage, interlacing.
  var qualityChecks = true
  /// Give the broker the proxy also where damage was found.
  var registerDamaged = false
  /// Seconds of processor time for each second of video that ffmpeg may take.
  var cpuFactor = 60
  /// Added to the niceness of ffmpeg.
  var nice = 5
  /// Threads of ffmpeg; nil for as many as there are processors.
  var threads: Int?
  /// A font file for burnt-in times; nil for the usual ones.
  var font: BytePath?

  /// Anything for which the whole file has to be decoded.
  var needsDecoding: Bool { proxy || storyboard || waveform || loudness || qualityChecks }

  private enum CodingKeys: String, CodingKey {
    case folder, proxy, storyboard, waveform, loudness, nice, threads, font
    case proxyHeight = "proxy_height"
    case proxyQuality = "proxy_crf"
    case proxyBitrate = "proxy_bitrate"
    case burnTimecode = "burn_timecode"
    case qualityChecks = "quality_checks"
    case cpuFactor = "cpu_factor"
    case registerDamaged = "register_damaged"
  }

  init(from decoder: any Decoder) throws {
    let values = try decoder.container(keyedBy: CodingKeys.self)
    folder = BytePath(try values.decode(String.self, forKey: .folder))
    func set<Value: Decodable>(_ value: inout Value, _ key: CodingKeys) throws {
      value = try values.decodeIfPresent(Value.self, forKey: key) ?? value
    }
    func range(_ key: CodingKeys, _ range: ClosedRange<Int>) throws -> Int? {
      guard let value = try values.decodeIfPresent(Int.self, forKey: key) else { return nil }
      if range.contains(value) { return value }
      throw ResultError.notConfigured(
        "settings.\(key.rawValue) is \(value), not from \(range.lowerBound) to \(range.upperBound)"
      )
    }
    try set(&proxy, .proxy)
    try set(&burnTimecode, .burnTimecode)
    try set(&storyboard, .storyboard)
    try set(&waveform, .waveform)
    try set(&loudness, .loudness)
    try set(&qualityChecks, .qualityChecks)
    try set(&registerDamaged, .registerDamaged)
    proxyHeight = try range(.proxyHeight, 90...2160) ?? proxyHeight
    proxyQuality = try range(.proxyQuality, 0...51) ?? proxyQuality
    proxyBitrate = try range(.proxyBitrate, 50...200_000)
    cpuFactor = try range(.cpuFactor, 1...100_000) ?? cpuFactor
    nice = try range(.nice, 0...19) ?? nice
    threads = try range(.threads, 1...256)
    font = try values.decodeIfPresent(String.self, forKey: .font).map { BytePath($0) }
    guard folder.isAbsolute else {
      throw ResultError.notConfigured("settings.folder is not an absolute path")
    }
  }

  /// The JSON Schema of the settings.
  static var schema: JSONValue {
    func flag(_ value: Bool) -> JSONValue {
      .object(["type": .string("boolean"), "default": .bool(value)])
    }
    func whole(_ range: ClosedRange<Int64>, _ value: Int64? = nil) -> JSONValue {
      var members: [String: JSONValue] = [
        "type": .string("integer"), "minimum": .integer(range.lowerBound),
        "maximum": .integer(range.upperBound),
      ]
      members["default"] = value.map { .integer($0) }
      return .object(members)
    }
    return .object([
      "type": .string("object"),
      "properties": .object([
        "folder": .object(["type": .string("string"), "format": .string("folder")]),
        "proxy": flag(true), "proxy_height": whole(90...2160, 720),
        "proxy_crf": whole(0...51, 23), "proxy_bitrate": whole(50...200_000),
        "burn_timecode": flag(false), "storyboard": flag(true), "waveform": flag(true),
        "loudness": flag(true), "quality_checks": flag(true),
        "register_damaged": flag(false), "cpu_factor": whole(1...100_000, 60),
        "nice": whole(0...19, 5), "threads": whole(1...256),
        "font": .object(["type": .string("string")]),
      ]),
      "required": .array([.string("folder")]),
    ])
  }
}
