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

  /// Writes the video, read-only as a granted file is.
  init(_ number: UInt8, in folder: BytePath) throws {
    guard let video = Data(base64Encoded: Self.base64, options: .ignoreUnknownCharacters) else {
      throw ConformanceError("the kit's own video cannot be read")
    }
    let box: [UInt8] = [0, 0, 0, 9] + Array("free".utf8) + [number]
    let bytes = Array(video) + box
    guard let digest = ContentDigest(try SHA256.digest(of: bytes)) else {
      throw ConformanceError("the kit's own video has no digest")
    }
    path = folder.appending("trial \(number).mp4")
    self.digest = digest
    size = Int64(bytes.count)
    let file = try FileDescriptor.open(path, O_WRONLY | O_CREAT | O_TRUNC, mode: 0o444)
    try file.write(bytes)
    try file.close()
  }

  /// Its name in requests.
  var identifier: LocalIdentifier { LocalIdentifier(digest) }

  /// The broker's answer to `asset.resolve`.
  var resolved: JSONValue {
    .object([
      "path": .string(path.lossyText),
      "sha256": .string(digest.hex),
      "size": .integer(size),
      "container": .string("mp4"),
      "video_codec": .string("h264"),
      "width": .integer(64),
      "height": .integer(48),
      "rotation": .integer(0),
      "duration_s": .number(1),
    ])
  }

  /// The file has still the bytes that it was given.
  var isUntouched: Bool {
    get throws {
      let file = try FileDescriptor.open(path, O_RDONLY | O_NOFOLLOW)
      return ContentDigest(try SHA256.digest(of: file.readAll(limit: 1 << 20))) == digest
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
