/// The filters that make a frame of the original a picture that everybody sees right: progressive, upright,
/// of square pixels, in the colours of BT.709.
struct PictureFilters: Sendable {
  let video: VideoFacts
  let size: PictureSize
  let features: FFmpegFeatures

  /// Commas in between; ffmpeg itself turns the picture before them.
  var chain: String {
    (deinterlacing + colors + ["setsar=1"]).joined(separator: ",")
  }

  /// Also in the colours that JPEG files are in.
  var stillChain: String {
    chain + ",scale=in_color_matrix=bt709:out_color_matrix=bt601:out_range=pc,format=yuvj420p"
  }

  /// How the picture differs from the original, one sentence each.
  var changes: [String] {
    var changes: [String] = []
    if video.rotation != 0 { changes.append("turned by \(video.rotation)° as the file says") }
    if !deinterlacing.isEmpty { changes.append("deinterlaced") }
    if video.sampleAspect != nil { changes.append("stretched to square pixels") }
    if video.hdr != nil {
      changes.append(
        features.hasToneMapping
          ? "tone-mapped from HDR to the ordinary range"
          : "HDR shown without tone mapping, which this ffmpeg lacks: pale"
      )
    }
    if isOverBlack { changes.append("transparent parts shown over black") }
    return changes
  }

  private var deinterlacing: [String] {
    // Smaller ones the filter refuses.
    guard video.isInterlaced, video.width >= 3, video.height >= 4 else { return [] }
    let name = features.filters.contains("bwdif") ? "bwdif" : "yadif"
    return ["\(name)=mode=send_frame:parity=\(parity):deint=all"]
  }

  /// The field that is shown first: the second letter.
  private var parity: String {
    switch video.fieldOrder {
    case "tt", "bt": "tff"
    case "bb", "tb": "bff"
    default: "auto"
    }
  }

  private var colors: [String] {
    if video.hdr != nil, features.hasToneMapping { return toneMapping + Self.tags }
    let over = isOverBlack ? ["format=gbrap", "premultiply=inplace=1"] : []
    let input = isRGB ? "" : ":in_color_matrix=\(matrix)"
    let scale =
      "scale=\(size.width):\(size.height):flags=bicubic\(input):out_color_matrix=bt709:out_range=tv"
    return over + [scale, "format=yuv420p"] + Self.tags
  }

  private static let tags = [
    "setparams=range=tv:color_primaries=bt709:color_trc=bt709:colorspace=bt709"
  ]

  /// In linear light; the size first, because everything after it is slow.
  private var toneMapping: [String] {
    let transfer = video.colorTransfer ?? "smpte2084"
    let primaries =
      video.colorPrimaries.flatMap { ["bt709", "smpte432"].contains($0) ? $0 : nil } ?? "bt2020"
    let matrix = isRGB ? "gbr" : video.colorMatrix == "bt709" ? "bt709" : "bt2020nc"
    let range = video.colorRange == "pc" ? "pc" : "tv"
    return [
      "zscale=w=\(size.width):h=\(size.height):tin=\(transfer):pin=\(primaries):min=\(matrix)"
        + ":rin=\(range):t=linear:npl=100",
      "format=gbrpf32le", "zscale=p=bt709", "tonemap=tonemap=hable:desat=0",
      // zscale refuses to halve the colours of odd sizes.
      "zscale=t=bt709:m=bt709:r=tv",
      size.width % 2 == 0 && size.height % 2 == 0 ? "format=yuv420p" : "format=yuv444p",
    ]
  }

  private var isRGB: Bool {
    guard let format = video.pixelFormat else { return false }
    if isOverBlack { return true }
    return ["rgb", "bgr", "gbr", "argb", "abgr", "pal8", "0rgb", "x2"].contains {
      format.hasPrefix($0)
    }
  }

  /// The colours under a transparent part are anything.
  private var isOverBlack: Bool {
    guard let format = video.pixelFormat else { return false }
    return ["yuva", "rgba", "bgra", "argb", "abgr", "gbrap", "ya8", "ya16", "pal8"].contains {
      format.hasPrefix($0)
    } && features.filters.contains("premultiply")
  }

  /// Where the file does not say, by the height, as players do.
  private var matrix: String {
    switch video.colorMatrix {
    case "bt709": "bt709"
    case "bt2020nc", "bt2020c": "bt2020"
    case "smpte170m", "bt470bg": "bt601"
    case "fcc": "fcc"
    case "smpte240m": "smpte240m"
    default: video.height >= 720 ? "bt709" : "bt601"
    }
  }
}
