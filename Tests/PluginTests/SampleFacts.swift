import HandoffProtocol

@testable import handoff_preview

extension PreviewFacts {
  /// Those of a short clip with every kind of file beside its page.
  static func sample(
    _ identifier: LocalIdentifier,
    title: String = "Clip",
    fileName: String = "clip.mov",
    madeAt: String = "2026-12-01T09:40:00.000Z"
  ) -> PreviewFacts {
    PreviewFacts(
      title: title,
      fileName: fileName,
      localIdentifier: identifier.text,
      sha256: String(repeating: "0a", count: 32),
      size: 1_250_000,
      container: "mov",
      madeAt: madeAt,
      tool: "5.1.9",
      duration: 12.5,
      timecode: "01:00:00:00",
      video: [.sample],
      poster: PictureFile(name: "poster.jpg", width: 640, height: 360, size: 9000),
      contactSheet: PictureFile(name: "contact.jpg", width: 1296, height: 560, size: 90_000),
      proxy: ProxyFile(
        name: "proxy.mp4",
        width: 640,
        height: 360,
        size: 400_000,
        hasAudio: false,
        hasBurntTimecode: false,
        changes: []
      ),
      findings: [
        Finding(kind: .black, severity: .warning, start: 2, end: 4.5, text: "Black for 2.5 s.")
      ]
    )
  }
}

extension VideoFacts {
  fileprivate static let sample = VideoFacts(
    codec: "prores",
    profile: "HQ",
    width: 1920,
    height: 1080,
    displayWidth: 1920,
    displayHeight: 1080,
    rotation: 0,
    frameRate: 25,
    nominalFrameRate: "25/1",
    isVariableFrameRate: false,
    isInterlaced: false,
    hasAlpha: false
  )
}
