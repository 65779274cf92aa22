/// Names of formats as people know them, from those of ffmpeg.
enum PageNames {
  private static let codecs = [
    "h264": "H.264", "hevc": "HEVC (H.265)", "vvc": "VVC (H.266)", "av1": "AV1", "vp8": "VP8",
    "vp9": "VP9", "prores": "ProRes", "dnxhd": "DNxHD", "mjpeg": "Motion JPEG", "mpeg4": "MPEG-4",
    "mpeg2video": "MPEG-2", "mpeg1video": "MPEG-1", "flv1": "Sorenson H.263", "gif": "GIF",
    "ffv1": "FFV1", "rawvideo": "uncompressed", "v210": "uncompressed 10 bit",
    "qtrle": "Animation",
    "cfhd": "CineForm", "theora": "Theora", "aac": "AAC", "ac3": "AC-3", "eac3": "E-AC-3",
    "opus": "Opus", "vorbis": "Vorbis", "mp3": "MP3", "mp2": "MP2", "flac": "FLAC", "alac": "ALAC",
    "amr_nb": "AMR", "dts": "DTS", "truehd": "TrueHD", "subrip": "SubRip", "mov_text": "timed text",
    "webvtt": "WebVTT", "hdmv_pgs_subtitle": "PGS", "dvd_subtitle": "DVD subtitles",
    "dvb_subtitle": "DVB subtitles", "ass": "ASS", "eia_608": "CEA-608", "tmcd": "timecode",
    "bin_data": "data",
  ]
  private static let containers = [
    "mp4": "MP4", "mov": "QuickTime", "matroska": "Matroska", "webm": "WebM", "avi": "AVI",
    "mpegts": "MPEG transport stream", "flv": "Flash Video", "gif": "GIF", "mxf": "MXF",
    "3gp": "3GPP", "mpeg": "MPEG program stream",
  ]
  private static let colors = [
    "bt709": "BT.709", "bt2020": "BT.2020", "bt2020nc": "BT.2020", "bt2020c": "BT.2020 constant",
    "smpte170m": "BT.601 NTSC", "bt470bg": "BT.601 PAL", "bt470m": "BT.470 M",
    "smpte2084": "PQ (ST 2084)", "arib-std-b67": "HLG", "smpte432": "Display P3",
    "smpte431": "DCI P3", "iec61966-2-1": "sRGB", "gbr": "RGB", "smpte240m": "ST 240",
    "bt2020-10": "BT.2020", "bt2020-12": "BT.2020", "linear": "linear",
  ]
  private static let fieldOrders = [
    "progressive": "progressive", "tt": "interlaced, top field first",
    "bb": "interlaced, bottom field first", "tb": "interlaced, top field first",
    "bt": "interlaced, bottom field first",
  ]

  static func codec(_ name: String, _ profile: String? = nil) -> String {
    var text = codecs[name] ?? (name.hasPrefix("pcm_") ? pcm(name) : name)
    if let profile, !profile.isEmpty, profile != "unknown" { text += " \(profile)" }
    return text
  }

  /// ffmpeg names all that one demuxer reads (`mov,mp4,m4a`); the file's extension says which it is.
  static func container(_ name: String, of file: String) -> String {
    let all = name.split(separator: ",").map(String.init)
    let ending = file.split(separator: ".").last.map { $0.lowercased() } ?? ""
    let one = all.first { $0 == ending } ?? all.first ?? name
    return containers[one] ?? one
  }

  static func color(_ name: String) -> String { colors[name] ?? name }

  static func fieldOrder(_ name: String) -> String { fieldOrders[name] ?? name }

  static func dynamicRange(_ range: VideoFacts.DynamicRange) -> String {
    switch range {
    case .perceptualQuantizer: "HDR (PQ)"
    case .hybridLogGamma: "HDR (HLG)"
    }
  }

  /// What a finding is about, in one or two words.
  static func finding(_ kind: Finding.Kind) -> String {
    switch kind {
    case .black: "Black"
    case .freeze: "Freeze"
    case .silence: "Silence"
    case .clipping: "Clipping"
    case .interlaced: "Interlaced"
    case .hdr: "HDR"
    case .damaged: "Damaged"
    case .short: "Short"
    case .anamorphic: "Pixel shape"
    case .rotated: "Turned"
    case .alpha: "Alpha"
    case .loudness: "Loudness"
    case .proxy: "Proxy"
    case .variableFrameRate: "Frame rate"
    case .oddSize: "Odd size"
    case .trackLength: "Track length"
    case .noAudio: "No sound"
    case .audioTracks: "Sound tracks"
    case .notMeasured: "Not measured"
    }
  }

  static func severity(_ severity: Finding.Severity) -> String {
    switch severity {
    case .info: "Note"
    case .warning: "Warning"
    case .problem: "Problem"
    }
  }

  /// `pcm_s24le` is PCM of 24 bits.
  private static func pcm(_ name: String) -> String {
    let digits = name.filter(\.isNumber)
    return digits.isEmpty ? "PCM" : "PCM \(digits) bit"
  }
}
