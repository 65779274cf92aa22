import AssetLibrary
import ContainerChecks
import HandoffCore
import HandoffProtocol
import Paths

extension FuzzTarget {
  /// A checksum file beside an export.
  static let checksum = FuzzTarget("checksum") { bytes in
    for algorithm in ContentChecksum.Algorithm.allCases {
      do {
        let found = try ChecksumFile.checksum(in: bytes, of: "clip.mp4", algorithm)
        let text = String(decoding: bytes, as: UTF8.self).lowercased()
        try hold(text.contains(found.bytes.hexDigits), "a digest that nobody wrote")
      } catch let problem as ChecksumFile.Problem {
        try Refusals.checkSentence(problem.description)
      }
    }
  }

  /// The record file beside an object of the library.
  static let record = FuzzTarget("record") { bytes in
    try Documents.check(AssetRecord.self, bytes) { record in
      guard let asset = record.asset else { return }
      let written = try WireCoder.encode(record)
      try hold(
        try WireCoder.encode(AssetRecord(asset)) == written,
        "another record of the same asset"
      )
    }
  }

  /// What the probe process answers about a file.
  static let verdict = FuzzTarget("verdict") { bytes in
    try Documents.check(ProbeVerdict.self, bytes)
  }

  /// The outer structure of a video file.
  static let container = FuzzTarget("container") { bytes in
    let reading = CountedReading(bytes)
    let source = ByteSource(size: Int64(bytes.count), fetch: reading.fetch)
    guard case .video(let kind) = try ContainerKind.recognise(source) else { return }
    let report = try StructureReport.of(kind, source)
    try Refusals.checkSentence(report.finding.detail)
    try hold((0...source.size).contains(report.contentEnd), "an end outside the file")
  }
}

/// A file in memory that may be read only so often: a walk that goes in circles ends here.
private final class CountedReading {
  private let bytes: [UInt8]
  private var left: Int

  init(_ bytes: [UInt8]) {
    self.bytes = bytes
    left = 4 * bytes.count + 64
  }

  func fetch(_ offset: Int64, _ count: Int) throws -> [UInt8] {
    try hold(left > 0, "read more often than the file has bytes")
    left -= 1
    try hold(offset >= 0 && count >= 0, "read before the file")
    guard offset < Int64(bytes.count) else { return [] }
    return Array(bytes[Int(offset)...].prefix(count))
  }
}
