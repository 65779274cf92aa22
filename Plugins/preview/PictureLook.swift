import Synchronization

/// What a picture looks like, in numbers: enough to tell a good poster from a bad one.
struct PictureLook: Sendable, Hashable {
  /// Mean brightness, 0 to 255.
  var brightness = 0.0
  /// The brightness of which a tenth of the picture is darker, and of which a tenth is brighter.
  var low = 0.0
  var high = 0.0
  /// How much there is in it, 0 to 1.
  var entropy = 0.5
  /// Large for blurred ones; around 5 for sharp ones.
  var blur = 10.0

  var isBlack: Bool { brightness < 28 && high < 44 }
  /// One colour, or nearly so.
  var isUniform: Bool { high - low < 10 && entropy < 0.35 }

  /// The index of the one to show: neither black nor of one colour if possible, sharp, full, and like the
  /// others in brightness.
  static func best(of looks: [PictureLook]) -> Int {
    let usable = looks.indices.filter { !looks[$0].isBlack && !looks[$0].isUniform }
    let candidates = usable.isEmpty ? looks.indices.filter { !looks[$0].isBlack } : usable
    let common = candidates.map { looks[$0].brightness }.sorted()
    guard !common.isEmpty else { return 0 }
    let middle = common[common.count / 2]
    func merit(_ look: PictureLook) -> Double {
      look.entropy + min(look.high - look.low, 120) / 240 - min(look.blur, 20) / 40
        - abs(look.brightness - middle) / 510
    }
    return candidates.max { merit(looks[$0]) < merit(looks[$1]) } ?? 0
  }
}

/// Reads the looks from what ffmpeg's filters print.
final class GatheredLooks: Sendable {
  private let gathered = Mutex<[PictureLook]>([])

  var looks: [PictureLook] { gathered.withLock { $0 } }

  func take(_ line: String) {
    gathered.withLock { looks in
      switch MetadataLine(line) {
      case .frame:
        looks.append(PictureLook())
      case .value(let key, let text):
        guard let value = Double(text), value.isFinite, !looks.isEmpty else { return }
        let last = looks.count - 1
        switch key {
        case "lavfi.signalstats.YAVG": looks[last].brightness = value
        case "lavfi.signalstats.YLOW": looks[last].low = value
        case "lavfi.signalstats.YHIGH": looks[last].high = value
        case "lavfi.entropy.normalized_entropy.normal.Y": looks[last].entropy = value
        case "lavfi.blur": looks[last].blur = value
        default: break
        }
      case nil: break
      }
    }
  }
}

/// One line of ffmpeg's `metadata=print`.
enum MetadataLine: Sendable, Hashable {
  /// A frame begins, at a time in seconds from the beginning as played; nil where it has none.
  case frame(Double?)
  case value(key: String, String)

  init?(_ line: String) {
    if line.hasPrefix("frame:") {
      let time = line.firstRange(of: "pts_time:").map { line[$0.upperBound...] }
      self = .frame(
        time.flatMap { Double($0.prefix { $0 != " " }) }.flatMap { $0.isFinite ? $0 : nil }
      )
      return
    }
    guard let equals = line.firstIndex(of: "=") else { return nil }
    self = .value(key: String(line[..<equals]), String(line[line.index(after: equals)...]))
  }
}
