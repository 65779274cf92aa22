import FoundationEssentials

/// What ffprobe says of a file, as far as it is used.
///
/// Everything may be missing, or of another type than documented in a damaged file: such a member counts as
/// missing.
struct MediaReport: Sendable, Decodable {
  struct Stream: Sendable, Decodable {
    let index: Int
    let kind: String?
    let codec: String?
    let codecTag: String?
    let profile: String?
    let pixelFormat: String?
    let width: Int?
    let height: Int?
    let sampleAspect: String?
    let fieldOrder: String?
    let nominalRate: String?
    let averageRate: String?
    let startTime: String?
    let duration: String?
    let frameCount: String?
    let bitRate: String?
    let bitsPerRawSample: String?
    let colorPrimaries: String?
    let colorTransfer: String?
    let colorMatrix: String?
    let colorRange: String?
    let channels: Int?
    let layout: String?
    let sampleRate: String?
    let rotation: Double?
    /// A cover picture, no video.
    let isAttachedPicture: Bool
    let tags: [String: String]

    private enum CodingKeys: String, CodingKey {
      case index, profile, width, height, duration, channels, tags, disposition
      case kind = "codec_type"
      case codec = "codec_name"
      case codecTag = "codec_tag_string"
      case pixelFormat = "pix_fmt"
      case sampleAspect = "sample_aspect_ratio"
      case fieldOrder = "field_order"
      case nominalRate = "r_frame_rate"
      case averageRate = "avg_frame_rate"
      case startTime = "start_time"
      case frameCount = "nb_frames"
      case bitRate = "bit_rate"
      case bitsPerRawSample = "bits_per_raw_sample"
      case colorPrimaries = "color_primaries"
      case colorTransfer = "color_transfer"
      case colorMatrix = "color_space"
      case colorRange = "color_range"
      case layout = "channel_layout"
      case sampleRate = "sample_rate"
      case sideData = "side_data_list"
    }

    private struct SideData: Decodable {
      let rotation: Double?
    }

    init(from decoder: any Decoder) throws {
      let values = try decoder.container(keyedBy: CodingKeys.self)
      index = try values.decode(Int.self, forKey: .index)
      func read<Value: Decodable>(_ key: CodingKeys) -> Value? {
        do { return try values.decodeIfPresent(Value.self, forKey: key) } catch { return nil }
      }
      kind = read(.kind)
      codec = read(.codec)
      codecTag = read(.codecTag)
      profile = read(.profile)
      pixelFormat = read(.pixelFormat)
      width = read(.width)
      height = read(.height)
      sampleAspect = read(.sampleAspect)
      fieldOrder = read(.fieldOrder)
      nominalRate = read(.nominalRate)
      averageRate = read(.averageRate)
      startTime = read(.startTime)
      duration = read(.duration)
      frameCount = read(.frameCount)
      bitRate = read(.bitRate)
      bitsPerRawSample = read(.bitsPerRawSample)
      colorPrimaries = read(.colorPrimaries)
      colorTransfer = read(.colorTransfer)
      colorMatrix = read(.colorMatrix)
      colorRange = read(.colorRange)
      channels = read(.channels)
      layout = read(.layout)
      sampleRate = read(.sampleRate)
      let sideData: [SideData]? = read(.sideData)
      rotation = sideData?.lazy.compactMap(\.rotation).first
      let disposition: [String: Int]? = read(.disposition)
      isAttachedPicture = disposition?["attached_pic"] == 1
      let tags: [String: String] = read(.tags) ?? [:]
      self.tags = tags.mapValues { String($0.prefix(MediaReport.longestTag)) }
    }
  }

  struct Format: Sendable, Decodable {
    let name: String?
    let startTime: String?
    let duration: String?
    let tags: [String: String]?

    private enum CodingKeys: String, CodingKey {
      case duration, tags
      case name = "format_name"
      case startTime = "start_time"
    }
  }

  struct Chapter: Sendable, Decodable {
    let startTime: String?
    let endTime: String?
    let tags: [String: String]?

    private enum CodingKeys: String, CodingKey {
      case tags
      case startTime = "start_time"
      case endTime = "end_time"
    }
  }

  /// Characters: more no page shows.
  static let longestTag = 300

  let streams: [Stream]
  let format: Format?
  let chapters: [Chapter]?

  /// Reads ffprobe's JSON.
  init(_ json: [UInt8]) throws {
    self = try JSONDecoder().decode(Self.self, from: Data(json))
  }

  var video: [Stream] { streams.filter { $0.kind == "video" && !$0.isAttachedPicture } }
  var audio: [Stream] { streams.filter { $0.kind == "audio" } }

  /// The first timecode that any track or the file itself has.
  var timecode: String? {
    let tags = streams.map(\.tags) + [format?.tags ?? [:]]
    return tags.lazy.compactMap { $0["timecode"] }.first { Timecode($0) != nil }
  }
}
