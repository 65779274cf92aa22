/// One picture track.
struct VideoFacts: Sendable, Hashable, Codable {
  enum DynamicRange: String, Sendable, Hashable, Codable {
    case perceptualQuantizer = "pq"
    case hybridLogGamma = "hlg"
  }

  /// As ffprobe names it: `h264`, `prores`.
  var codec: String
  /// `High`, `HQ`.
  var profile: String?
  var pixelFormat: String?
  /// Bits of one sample.
  var bitDepth: Int?
  /// Pixels as stored.
  var width: Int
  /// Pixels as stored.
  var height: Int
  /// Square pixels, upright.
  var displayWidth: Int
  /// Square pixels, upright.
  var displayHeight: Int
  /// Of one pixel, `10:11`; nil where they are square or nothing is said.
  var sampleAspect: String?
  /// Degrees clockwise by which a player turns it: 0, 90, 180 or 270.
  var rotation: Int
  /// Frames a second, on average.
  var frameRate: Double?
  /// The rate that is meant, as a fraction: `30000/1001`.
  var nominalFrameRate: String?
  var isVariableFrameRate: Bool
  /// Bits a second.
  var bitRate: Int?
  /// As ffprobe names it: `progressive`, `tt`, `bb`, `tb`, `bt`; nil where the file does not say.
  var fieldOrder: String?
  /// By the field order, or by looking at the pictures where the file does not say.
  var isInterlaced: Bool
  /// `bt709`, `bt2020`.
  var colorPrimaries: String?
  /// `bt709`, `smpte2084`, `arib-std-b67`.
  var colorTransfer: String?
  /// `bt709`, `bt2020nc`.
  var colorMatrix: String?
  /// `tv` (limited) or `pc` (full).
  var colorRange: String?
  /// Nil for an ordinary picture.
  var hdr: DynamicRange?
  var hasAlpha: Bool
  /// Counted where it was decoded, else as the file says.
  var frameCount: Int?
  var timecode: String?
  var language: String?
  var title: String?

  private enum CodingKeys: String, CodingKey {
    case codec, profile, width, height, rotation, hdr, timecode, language, title
    case pixelFormat = "pixel_format"
    case bitDepth = "bit_depth"
    case displayWidth = "display_width"
    case displayHeight = "display_height"
    case sampleAspect = "sample_aspect"
    case frameRate = "frame_rate"
    case nominalFrameRate = "nominal_frame_rate"
    case isVariableFrameRate = "variable_frame_rate"
    case bitRate = "bit_rate"
    case fieldOrder = "field_order"
    case isInterlaced = "interlaced"
    case colorPrimaries = "color_primaries"
    case colorTransfer = "color_transfer"
    case colorMatrix = "color_matrix"
    case colorRange = "color_range"
    case hasAlpha = "alpha"
    case frameCount = "frame_count"
  }
}

/// One sound track.
struct AudioFacts: Sendable, Hashable, Codable {
  /// As ffprobe names it: `aac`, `pcm_s24le`.
  var codec: String
  var channels: Int
  /// `stereo`, `5.1`; nil where the file does not say.
  var layout: String?
  /// Samples a second.
  var sampleRate: Int
  /// Bits a second.
  var bitRate: Int?
  /// ISO 639, as the file says.
  var language: String?
  var title: String?
  /// It is heard in the proxy.
  var isInProxy = false

  private enum CodingKeys: String, CodingKey {
    case codec, channels, layout, language, title
    case sampleRate = "sample_rate"
    case bitRate = "bit_rate"
    case isInProxy = "in_proxy"
  }
}

/// One track that is neither picture nor sound.
struct TrackFacts: Sendable, Hashable, Codable {
  /// `subrip`, `tmcd`.
  var codec: String
  var language: String?
  var title: String?
}
