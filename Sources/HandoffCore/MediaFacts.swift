/// What the probe found in a video, as asset records have it.
package struct MediaFacts: Hashable, Sendable, Codable {
  /// `mp4`, `mov`, `matroska`, `webm`, `avi`, `mpegts`, `flv`, `3gp` and so on.
  package var container: String
  /// libavcodec's name (`h264`), or the container's own four characters where it has none (`vvc1`).
  package var videoCodec: String
  /// Pixels as displayed: after rotation, before the sample aspect ratio.
  package var width: Int
  /// Pixels as displayed.
  package var height: Int
  /// Degrees clockwise: 0, 90, 180 or 270; anything else in the file counts as 0.
  package var rotation: Int
  /// Seconds as played, from the packets or the track, never from a header that contradicts them.
  package var duration: Double
  /// The number of audio tracks.
  package var audioTracks: Int

  package init(
    container: String,
    videoCodec: String,
    width: Int,
    height: Int,
    rotation: Int,
    duration: Double,
    audioTracks: Int
  ) {
    self.container = container
    self.videoCodec = videoCodec
    self.width = width
    self.height = height
    self.rotation = rotation
    self.duration = duration
    self.audioTracks = audioTracks
  }

  private enum CodingKeys: String, CodingKey {
    case container
    case videoCodec = "video_codec"
    case width
    case height
    case rotation
    case duration = "duration_s"
    case audioTracks = "audio_tracks"
  }
}
