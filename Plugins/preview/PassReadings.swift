import Synchronization

/// What the pass over the whole file has found, filled while it runs.
final class PassReadings: Sendable {
  /// Every so many frames it is told how far it is.
  private static let step = 12

  let picture = Mutex(PictureReading())
  let sound: Mutex<SoundReading>
  let complaints = Mutex(Complaints())
  private let tiles = Mutex(0)

  init(pieceLength: Double) {
    sound = Mutex(SoundReading(length: pieceLength))
  }

  /// The tiles of the storyboard.
  var tileCount: Int { tiles.withLock { $0 } }

  /// Takes a line about a frame; now and then returns the time that is reached.
  func takePicture(_ line: String) -> Double? {
    picture.withLock {
      $0.take(line)
      return line.hasPrefix("frame:") && $0.frameCount % Self.step == 0 ? $0.time : nil
    }
  }

  func takeTile(_ line: String) {
    if case .frame = MetadataLine(line) { tiles.withLock { $0 += 1 } }
  }
}
