extension Findings {
  /// What is longer or shorter than it should be.
  var lengths: [Finding] {
    guard let end = picture.end else { return [] }
    var found: [Finding] = []
    func add(_ text: String) { found.append(whole(.trackLength, .warning, text)) }
    if let said = source.duration, said < duration {
      add("The file says that it is \(clock(said)) long; it plays for \(clock(duration)).")
    }
    if let start = picture.firstTime, start > 1 { add("The picture begins at \(clock(start)).") }
    if duration - end > max(1, duration * 0.05) {
      add("The picture ends at \(clock(end)) of \(clock(duration)).")
    }
    if let start = sound.pieces.first?.start, start > 1 {
      add("The sound begins at \(clock(start)).")
    }
    if sound.end > 0, end - sound.end > max(1, duration * 0.05) {
      add("The sound ends at \(clock(sound.end)).")
    }
    return found
  }

  /// What is made must be as long as what was decoded.
  static func proxy(lasting seconds: Double?, of pass: DecodedPass) -> Finding? {
    let sound = pass.graph.hasSound ? pass.sound.end : 0
    guard let end = pass.picture.end else { return nil }
    let meant = max(end, sound)
    guard let seconds, !isOff(seconds, from: meant) else {
      let length =
        seconds.map { "\(TimeText.clock($0, hasTenths: true)) long" } ?? "of unknown length"
      return Finding(
        kind: .proxy,
        severity: .problem,
        text: "The proxy is \(length), not \(TimeText.clock(meant, hasTenths: true))."
      )
    }
    return nil
  }

  /// More than rounding and the last frame explain.
  static func isOff(_ seconds: Double, from other: Double) -> Bool {
    abs(seconds - other) > max(0.5, other * 0.02)
  }
}
