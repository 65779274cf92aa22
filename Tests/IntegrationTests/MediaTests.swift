import Glibc
import HandoffProtocol
import HandoffTestSupport
import LinuxSystem
import Paths
import Testing

/// Real files through a running broker.
@Suite("Real files")
struct MediaTests {
  @Test("each collected file gets the verdict of its manifest", .timeLimit(.minutes(3)))
  func verdicts() async throws {
    guard let media = CollectedMedia.folder(for: "verdicts of collected files") else { return }
    let folder = "give_up = \"2s\""
    try await Scene.run(Scene.configuration(folder: folder)) { scene in
      let rows = try CollectedMedia.rows(media)
      for row in rows {
        let bytes = try FileDescriptor.open(media.appending(row.name), O_RDONLY)
        try scene.write(try bytes.readAll(limit: 1 << 28), to: row.name)
      }
      let decided: Set<String> = ["imported", "refused", "ignored"]
      for row in rows {
        let path = scene.exports.appending(row.name)
        let why = try await scene.broker.wait("why", path) {
          decided.contains($0["state"]?.text ?? "")
        }
        let state = why["state"]?.text ?? ""
        if row.verdict.hasPrefix("accept") { #expect(state == "imported", "\(row.name)") }
        if row.verdict.hasPrefix("reject") { #expect(state != "imported", "\(row.name)") }
        if state == "refused" { #expect(why["reason"]?.text?.isEmpty == false, "\(row.name)") }
      }
    }
  }

  /// The way real exporters write; what it records is the truth.
  @Test("exporters that write slowly: nothing early, wrong, lost or late", .timeLimit(.minutes(3)))
  func growing() async throws {
    guard let media = CollectedMedia.folder(for: "exporters that write slowly") else { return }
    let folder = "give_up = \"20s\""
    let text = Scene.configuration(folder: folder)
      .replacing("quiet = \"100ms\"", with: "quiet = \"1s\"")
    try await Scene.run(text) { scene in
      let truth = scene.broker.root.appending("truth.tsv")
      let line = """
        TRUTH='\(truth.lossyText)' bash '\(media.lossyText)/make-growing.sh' \
        '\(scene.exports.lossyText)' all
        """
      #expect(await shell(line) == 0)
      let ready = try Self.ready(truth)
      let wanted = Set(ready.keys.map(\.digest))
      let assets = try await scene.broker.wait("assets", within: .seconds(10)) { assets in
        wanted.isSubset(of: assets.elements.compactMap { $0["sha256"]?.text })
      }
      for asset in assets.elements {
        try Self.check(asset, ready)
      }
      let killed = scene.exports.appending("k crashed export.mp4")
      let why = try await scene.broker.json("why", killed)
      #expect(["incomplete", "refused"].contains(why["state"]?.text ?? ""))
      #expect(why["reason"]?.text?.isEmpty == false)
    }
  }

  private struct Version: Hashable {
    let path: String
    let digest: String
  }

  /// A whole file whose writer sets only its times afterwards may be taken this long before "ready".
  private static let earliest: Double = -1.5
  /// The quiet period and two seconds, and one for the clock of the script's `date`.
  private static let latest: Double = 4
  /// A recording that is stopped by a signal may lack its trailer: then it declares no end, and the longer
  /// quiet period is waited for.
  private static let latestWithoutEnd: Double = 9

  private static func ready(_ truth: BytePath) throws -> [Version: Double] {
    let bytes = try FileDescriptor.open(truth, O_RDONLY).readAll(limit: 1 << 24)
    var ready: [Version: Double] = [:]
    for line in String(decoding: bytes, as: UTF8.self).split(separator: "\n") {
      let columns = line.split(separator: "\t", omittingEmptySubsequences: false).map(String.init)
      guard columns[2] == "ready", !columns[3].hasSuffix("notes.txt") else { continue }
      let version = Version(path: columns[3], digest: columns[5])
      ready[version] = ready[version] ?? Double(columns[0])
    }
    return ready
  }

  private static func check(_ asset: JSONValue, _ ready: [Version: Double]) throws {
    let digest = try #require(asset["sha256"]?.text)
    for source in asset["sources"]?.elements ?? [] {
      let path = try #require(source["path"]?.text)
      let seenAt = try #require(source["seen_at"]?.text.flatMap(Timestamp.init(rfc3339:)))
      let moment = ready[Version(path: path, digest: digest)]
      guard let moment else {
        Issue.record("imported too early or with another digest: \(path)")
        continue
      }
      let delay = Double(seenAt.milliseconds) / 1000 - moment
      let limit = path.hasSuffix("f1 obs recording.mkv") ? latestWithoutEnd : latest
      #expect(delay > earliest && delay < limit, "\(path) after \(delay) s")
    }
  }
}
