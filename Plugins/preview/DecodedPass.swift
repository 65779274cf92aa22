import Synchronization

/// The pass over the whole file after its end.
struct DecodedPass: Sendable {
  let graph: DecodeGraph
  let picture: PictureReading
  let sound: SoundReading
  let complaints: Complaints
  let tileCount: Int
  /// Why the sound could not be decoded.
  let soundFailure: String?
  /// Nothing was decoded, because no setting asks for it.
  let isEmpty: Bool

  init(graph: DecodeGraph, readings: PassReadings?, soundFailure: String? = nil) {
    self.graph = graph
    isEmpty = readings == nil
    picture = readings?.picture.withLock { $0 } ?? PictureReading()
    sound = readings?.sound.withLock { $0 } ?? SoundReading(length: graph.pieceLength)
    complaints = readings?.complaints.withLock { $0 } ?? Complaints()
    tileCount = readings?.tileCount ?? 0
    self.soundFailure = soundFailure
  }
}
