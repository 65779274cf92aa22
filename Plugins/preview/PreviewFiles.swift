/// A picture beside the page.
struct PictureFile: Sendable, Hashable, Codable {
  /// Without a folder.
  var name: String
  var width: Int
  var height: Int
  /// Bytes.
  var size: Int64
}

/// The video that browsers play.
struct ProxyFile: Sendable, Hashable, Codable {
  /// Without a folder.
  var name: String
  var width: Int
  var height: Int
  /// Bytes.
  var size: Int64
  /// It has sound.
  var hasAudio: Bool
  /// The original's timecode is burnt into the picture.
  var hasBurntTimecode: Bool
  /// How the picture differs from the original, one sentence each: turned, deinterlaced, tone-mapped.
  var changes: [String]
  /// Seconds; as ffprobe reads them from the finished file.
  var duration: Double?

  private enum CodingKeys: String, CodingKey {
    case name, width, height, size, changes, duration
    case hasAudio = "audio"
    case hasBurntTimecode = "burnt_timecode"
  }
}

/// Small pictures in a grid, one after the other at a fixed interval, for scrubbing.
///
/// Tile `n` (from 0) shows the time from `n * interval`; it is in sheet `n / (columns * rows)`, row by row.
struct StoryboardFiles: Sendable, Hashable, Codable {
  /// One or more, in order; the last one may have fewer rows.
  var sheets: [PictureFile]
  /// WebVTT with a cue for each tile: `storyboard.jpg#xywh=160,90,160,90`.
  var track: String
  var tileWidth: Int
  var tileHeight: Int
  /// Tiles beside one another.
  var columns: Int
  /// Rows of a full sheet.
  var rows: Int
  /// Tiles in all sheets.
  var count: Int
  /// Seconds from one tile to the next.
  var interval: Double

  private enum CodingKeys: String, CodingKey {
    case sheets, track, columns, rows, count, interval
    case tileWidth = "tile_width"
    case tileHeight = "tile_height"
  }
}
