import Digests
import FoundationEssentials
import Glibc
import HandoffProtocol
import LinuxSystem
import Paths

/// A real video that the kit hands off: one second of H.264 in an MP4, 64 by 48 pixels.
///
/// A `free` box with a number follows it, so that each handoff of a check has an asset of its own.
struct TrialVideo: Sendable {
  let path: BytePath
  let digest: ContentDigest
  let size: Int64
  let facts: GivenVideo.Facts
  /// As it was granted.
  let status: FileStatus

  /// Writes the video, read-only as a granted file is.
  init(_ number: UInt8, in folder: BytePath, _ given: GivenVideo?) throws {
    let bytes = try given?.bytes(number) ?? Self.bytes + GivenVideo.box(number)
    guard let digest = ContentDigest(try SHA256.digest(of: bytes)) else {
      throw ConformanceError("the video has no digest")
    }
    facts = given?.facts ?? Self.facts
    path = folder.appending(BytePath("trial \(number).\(given?.suffix ?? "mp4")"))
    self.digest = digest
    size = Int64(bytes.count)
    let file = try FileDescriptor.open(path, O_WRONLY | O_CREAT | O_TRUNC, mode: 0o444)
    try file.write(bytes)
    try file.close()
    guard let status = try FileStatus.of(path) else {
      throw ConformanceError("the video is gone")
    }
    self.status = status
  }

  private static let facts = GivenVideo.Facts(
    container: "mp4",
    codec: "h264",
    width: 64,
    height: 48,
    duration: 1
  )

  private static var bytes: [UInt8] {
    get throws {
      guard let video = Data(base64Encoded: base64, options: .ignoreUnknownCharacters) else {
        throw ConformanceError("the kit's own video cannot be read")
      }
      return Array(video)
    }
  }

  /// Its name in requests.
  var identifier: LocalIdentifier { LocalIdentifier(digest) }

  /// The broker's answer to `asset.resolve`.
  var resolved: JSONValue {
    .object(
      facts.members.merging([
        "path": .string(path.lossyText), "sha256": .string(digest.hex), "size": .integer(size),
      ]) { _, own in own }
    )
  }

  /// What keeps it from being handed off under some constraints; nil if nothing does.
  func isOutside(_ constraints: Constraints) -> String? {
    if let least = constraints.minDuration, let length = facts.duration, length < least {
      return "it lasts \(length) s, and min_duration_s is \(least)"
    }
    if let most = constraints.maxDuration, let length = facts.duration, length > most {
      return "it lasts \(length) s, and max_duration_s is \(most)"
    }
    if let most = constraints.maxSize, size > most {
      return "it has \(size) bytes, and max_size is \(most)"
    }
    if let list = constraints.containers, let own = facts.container, !list.contains(own) {
      return "it is \(own), and containers has \(list.joined(separator: ", "))"
    }
    if let list = constraints.videoCodecs, let own = facts.codec, !list.contains(own) {
      return "it is \(own), and video_codecs has \(list.joined(separator: ", "))"
    }
    if let most = constraints.maxWidth, let own = facts.width, own > most {
      return "it is \(own) wide, and max_width is \(most)"
    }
    if let most = constraints.maxHeight, let own = facts.height, own > most {
      return "it is \(own) high, and max_height is \(most)"
    }
    return nil
  }

  /// The file has still the bytes that it was given.
  var isUntouched: Bool {
    get throws {
      let file = try FileDescriptor.open(path, O_RDONLY | O_NOFOLLOW)
      return ContentDigest(try SHA256.digest(of: file.readAll(limit: GivenVideo.mostBytes + 64)))
        == digest
    }
  }

  private static let base64 = """
    AAAAIGZ0eXBpc29tAAACAGlzb21pc28yYXZjMW1wNDEAAAAIZnJlZQAAAHltZGF0AAAAKGWIgQAX
    /xg8lKkJmnsov8fySoC4WsZqp/wj7oqiyORF8Z/qJ/3VT98AAAAaQZoIjYif6bOwoLyWGoCgGoHE
    exvmCdmqYSwAAAALQZ4QRxP/8cvI6FUAAAAIAZ4YLol/pIAAAAAIAZ4YbUn/oIEAAANTbW9vdgAA
    AGxtdmhkAAAAAAAAAAAAAAAAAAAD6AAAA+gAAQAAAQAAAAAAAAAAAAAAAAEAAAAAAAAAAAAAAAAA
    AAABAAAAAAAAAAAAAAAAAABAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAgAAAqJ0cmFr
    AAAAXHRraGQAAAADAAAAAAAAAAAAAAABAAAAAAAAA+gAAAAAAAAAAAAAAAAAAAAAAAEAAAAAAAAA
    AAAAAAAAAAABAAAAAAAAAAAAAAAAAABAAAAAAEAAAAAwAAAAAAAkZWR0cwAAABxlbHN0AAAAAAAA
    AAEAAAPoAAAQAAABAAAAAAIabWRpYQAAACBtZGhkAAAAAAAAAAAAAAAAAAAoAAAAKABVxAAAAAAA
    LWhkbHIAAAAAAAAAAHZpZGUAAAAAAAAAAAAAAABWaWRlb0hhbmRsZXIAAAABxW1pbmYAAAAUdm1o
    ZAAAAAEAAAAAAAAAAAAAACRkaW5mAAAAHGRyZWYAAAAAAAAAAQAAAAx1cmwgAAAAAQAAAYVzdGJs
    AAAAwXN0c2QAAAAAAAAAAQAAALFhdmMxAAAAAAAAAAEAAAAAAAAAAAAAAAAAAAAAAEAAMABIAAAA
    SAAAAAAAAAABDExhdmMgbGlieDI2NAAAAAAAAAAAAAAAAAAAAAAAAAAAGP//AAAAN2F2Y0MBZAAK
    /+EAGWdkAAqscgREewEQAAADABAAAAMAoPEiWEYBAAdo6EOBNLIs/fj4AAAAABBwYXNwAAAAAQAA
    AAEAAAAUYnRydAAAAAAAAAOIAAADiAAAABhzdHRzAAAAAAAAAAEAAAAFAAAIAAAAABRzdHNzAAAA
    AAAAAAEAAAABAAAAOGN0dHMAAAAAAAAABQAAAAEAABAAAAAAAQAAKAAAAAABAAAQAAAAAAEAAAAA
    AAAAAQAACAAAAAAcc3RzYwAAAAAAAAABAAAAAQAAAAUAAAABAAAAKHN0c3oAAAAAAAAAAAAAAAUA
    AAAsAAAAHgAAAA8AAAAMAAAADAAAABRzdGNvAAAAAAAAAAEAAAAwAAAAPXVkdGEAAAA1bWV0YQAA
    AAAAAAAhaGRscgAAAAAAAAAAbWRpcmFwcGwAAAAAAAAAAAAAAAAIaWxzdA==
    """
}
