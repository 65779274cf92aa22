/// All that is known of one preview: what its page shows, and what lies beside it as `preview.json`.
struct PreviewFacts: Sendable, Hashable, Codable {
  static let file = "preview.json"
  /// Raised when a member changes its meaning; new members do not.
  static let currentVersion = 1

  var version = PreviewFacts.currentVersion
  /// For people; not a file name.
  var title: String
  /// The export's own name; bytes that are no text are replaced.
  var fileName: String
  var localIdentifier: String
  /// 64 hexadecimal digits.
  var sha256: String
  /// Bytes.
  var size: Int64
  /// Named as in asset records (`mp4`, `mov`, `matroska`), or as ffmpeg names it.
  var container: String?
  /// RFC 3339, UTC.
  var madeAt: String
  /// The version of ffmpeg that made it, for example `5.1.9-0+deb12u1`.
  var tool: String
  /// Seconds as played, as measured; nil where nobody knows.
  var duration: Double?
  /// Where the file's own clock begins, in seconds, if not at 0.
  var startTime: Double?
  /// The timecode of the first frame, `01:00:00;00` with a semicolon for drop-frame.
  var timecode: String?

  var video: [VideoFacts] = []
  var audio: [AudioFacts] = []
  var subtitles: [TrackFacts] = []
  /// Timecode tracks, attachments and whatever else.
  var data: [TrackFacts] = []
  var chapters: [ChapterFacts] = []

  var poster: PictureFile
  var contactSheet: PictureFile
  /// Nil where the setting is off.
  var storyboard: StoryboardFiles?
  /// Nil where the setting is off.
  var proxy: ProxyFile?
  /// Nil for a video without sound.
  var waveform: PictureFile?

  /// Nil for a video without sound, and where it was not measured.
  var loudness: LoudnessFacts?
  /// In the order of time; those of the whole file first.
  var findings: [Finding] = []

  private enum CodingKeys: String, CodingKey {
    case version, title, sha256, size, container, tool, duration, timecode
    case fileName = "file_name"
    case localIdentifier = "local_identifier"
    case madeAt = "made_at"
    case startTime = "start_time"
    case video, audio, subtitles, data, chapters
    case poster, storyboard, proxy, waveform
    case contactSheet = "contact_sheet"
    case loudness, findings
  }
}

/// A stretch of time with a name.
struct ChapterFacts: Sendable, Hashable, Codable {
  var title: String?
  /// Seconds.
  var start: Double
  /// Seconds.
  var end: Double
}

/// The loudness of one audio track by EBU R 128.
struct LoudnessFacts: Sendable, Hashable, Codable {
  /// What was measured: `track 1`, or `tracks 1 and 2` where mono tracks were heard as a pair.
  var of: String
  /// LUFS; nil for digital silence.
  var integrated: Double?
  /// LU.
  var range: Double?
  /// dBTP, the highest of all channels; nil for digital silence.
  var truePeak: Double?
  /// No sound at all was found in a track that is there.
  var isSilent: Bool

  private enum CodingKeys: String, CodingKey {
    case of, integrated, range
    case truePeak = "true_peak"
    case isSilent = "silent"
  }
}

/// Something about the video that a person may want to know before it is published.
struct Finding: Sendable, Hashable, Codable {
  enum Severity: String, Sendable, Hashable, Codable, CaseIterable {
    case info, warning, problem
  }

  enum Kind: String, Sendable, Hashable, Codable, CaseIterable {
    case black, freeze, silence, clipping, interlaced, hdr, damaged, short, anamorphic, rotated
    case alpha, loudness, proxy
    case variableFrameRate = "vfr"
    case oddSize = "odd_size"
    /// The tracks end at different times, or begin late.
    case trackLength = "track_length"
    case noAudio = "no_audio"
    case audioTracks = "audio_tracks"
    /// The file was not looked at as a whole: why is in the text.
    case notMeasured = "not_measured"
  }

  var kind: Kind
  var severity: Severity
  /// Seconds from the beginning as played; nil where it is about the whole file.
  var start: Double?
  /// Seconds; nil for a moment or the whole file.
  var end: Double?
  /// One sentence in plain English.
  var text: String
}
