import Glibc
import HandoffProtocol
import HandoffTestSupport
import LinuxSystem
import Paths
import Testing

@testable import handoff_preview

/// The plugin with a folder for previews, and videos that ffmpeg makes.
protocol PreviewScene {}

extension PreviewScene {
  func preview(
    _ scratch: Scratch,
    _ settings: [String: JSONValue] = [:]
  ) -> PluginProcess {
    // On a busy machine a nice child would make the tests slow.
    let fixed: [String: JSONValue] = [
      "folder": .string(scratch.out.lossyText), "nice": .integer(0),
    ]
    return PluginProcess(
      name: "handoff-preview",
      settings: .object(fixed.merging(settings) { $1 }),
      work: scratch.work
    )
  }

  /// What the plugin says of a preview.
  func facts(_ file: Granted, _ scratch: Scratch) throws -> PreviewFacts {
    let path = folder(file, scratch).appending(PreviewFacts.file)
    return try WireCoder.decode(
      PreviewFacts.self,
      from: try FileDescriptor.open(path, O_RDONLY).readAll(limit: 1 << 20)
    )
  }

  /// The previews that are there, whole or not.
  func previews(_ scratch: Scratch) throws -> Set<BytePath> {
    let folders = try Directory.entries(of: scratch.out).filter { $0.kind == .directory }
    return Set(folders.map(\.name)).subtracting([IndexFolder.own])
  }

  func names(_ file: Granted, _ scratch: Scratch) throws -> Set<BytePath> {
    Set(try Directory.entries(of: folder(file, scratch)).map(\.name))
  }

  static var silentFiles: Set<BytePath> {
    [
      "index.html", "preview.json", "poster.jpg", "contact.jpg", "proxy.mp4", "storyboard.vtt",
      "storyboard1.jpg",
    ]
  }

  /// Makes a video with ffmpeg.
  func video(
    _ arguments: String,
    duration: Double?,
    named name: BytePath = "clip.mp4",
    in scratch: Scratch
  ) async throws -> Granted {
    let path = scratch.path.appending("grants").appending(name)
    let fixed: [BytePath] = ["-nostdin", "-v", "error", "-y"]
    let status = try await runProgram(
      "/usr/bin/ffmpeg",
      fixed + arguments.split(separator: " ").map { BytePath(String($0)) } + [path]
    )
    #expect(status == .exited(0))
    var file = try Granted(file: path)
    file.asset.duration = duration
    return file
  }

  /// The mean brightness of a picture, 0 to 255, and its size.
  func brightness(_ picture: BytePath, _ scratch: Scratch) async throws -> UInt8 {
    let raw = scratch.path.appending("gray.raw")
    let status = try await runProgram(
      "/usr/bin/ffmpeg",
      [
        "-nostdin", "-v", "error", "-y", "-i", picture, "-vf", "scale=1:1,format=gray", "-f",
        "rawvideo", raw,
      ]
    )
    #expect(status == .exited(0))
    return try #require(try FileDescriptor.open(raw, O_RDONLY).readAll(limit: 10).first)
  }

  /// Width and height from the start-of-frame segment of a JPEG (ITU-T T.81, B.2.2).
  func size(_ picture: BytePath) throws -> (width: Int, height: Int) {
    let bytes = try FileDescriptor.open(picture, O_RDONLY).readAll(limit: 10 << 20)
    var at = 2
    while at + 9 < bytes.count, bytes[at] == 0xFF, bytes[at + 1] != 0xC0 {
      at += 2 + Int(bytes[at + 2]) << 8 + Int(bytes[at + 3])
    }
    return (
      Int(bytes[at + 7]) << 8 + Int(bytes[at + 8]), Int(bytes[at + 5]) << 8 + Int(bytes[at + 6])
    )
  }

  func folder(_ file: Granted, _ scratch: Scratch) -> BytePath {
    scratch.out.appending(file.identifier.uuid)
  }
}
