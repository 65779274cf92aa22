import HandoffPluginKit
import HandoffProtocol
import Paths

/// One generation of an ASC MHL history: the files that a delivery brought, with their hashes.
///
/// It lists only these, as `ascmhl create --single_file` does; the history is all generations together.
struct MHLGeneration {
  /// One file.
  struct Entry: Hashable {
    /// Relative to the folder that holds `ascmhl`.
    var path: BytePath
    var size: Int64
    /// When the copy was last written.
    var modified: Timestamp
    var hashes: MHLHashes
    /// The history has it already, with the same hashes.
    var isVerified: Bool
  }

  /// What the reference tool shall not take for a new file.
  static let ignored = [".DS_Store", "ascmhl", "ascmhl/", "SHA256SUMS", ".handoff-*"]

  var entries: [Entry]
  var handoffID: String
  var host: String
  var made: Timestamp
  /// Of the generation before.
  var ignored = Self.ignored

  /// The document; nil where a path cannot stand in XML.
  func document() -> [UInt8]? {
    var text = """
      <?xml version="1.0" encoding="UTF-8"?>
      <hashlist version="2.0" xmlns="urn:ASC:MHL:v2.0">
        <creatorinfo>
          <creationdate>\(made.seconds)</creationdate>
          <hostname>\(MHLText.lossy(BytePath(host)))</hostname>
          <tool version="\(ArchiveDestination.descriptor.version)">handoff-archive</tool>
          <comment>\(Self.comment(handoffID))</comment>
        </creatorinfo>
        <processinfo>
          <process>transfer</process>
          <ignore>

      """
    for pattern in ignored {
      text += "      <pattern>\(MHLText.lossy(BytePath(pattern)))</pattern>\n"
    }
    text += "    </ignore>\n  </processinfo>\n  <hashes>\n"
    for entry in entries {
      guard let path = MHLText.escaped(entry.path.bytes) else { return nil }
      let attributes =
        "action=\"\(entry.isVerified ? "verified" : "original")\" hashdate=\"\(made.seconds)\""
      text += """
            <hash>
              <path size="\(entry.size)" lastmodificationdate="\(entry.modified.seconds)">\(path)</path>
              <c4 \(attributes)>\(entry.hashes.c4)</c4>
              <xxh128 \(attributes)>\(entry.hashes.xxh128)</xxh128>
            </hash>

        """
    }
    return Array((text + "  </hashes>\n</hashlist>\n").utf8)
  }

  /// What tells a delivery's own generation from others.
  static func comment(_ handoffID: String) -> String { "handoff \(handoffID)" }

  /// The name of its file: `NNNN_FOLDER_DATE_TIMEZ.mhl`.
  func fileName(_ number: Int, folder: BytePath) -> BytePath {
    let digits = String(number)
    let before = String(repeating: "0", count: max(0, 4 - digits.count)) + digits + "_"
    let time = made.seconds.filter { $0 != ":" }.replacing("T", with: "_")
    let after = "_\(time).mhl"
    let name = folder.exactText ?? MHLText.lossy(folder)
    let safe = LayoutName.clean(Array(name.utf8))
    let room = 255 - before.utf8.count - after.utf8.count
    let kept = ArchiveName.characters(of: safe, atMost: room)
    return BytePath(Array(before.utf8) + kept + Array(after.utf8))
  }
}

extension MHLGeneration {
  /// What an existing generation tells.
  struct Read {
    /// By path, then by format.
    var hashes: [BytePath: [String: String]] = [:]
    var ignored: [String] = []
    var comment = ""
  }

  /// Reads a generation of any tool.
  static func read(_ document: [UInt8]) throws(MHLScanner.Malformed) -> Read {
    var scanner = MHLScanner(document)
    var read = Read()
    var path: BytePath?
    var hashes: [String: String]?
    var text: [UInt8] = []
    while let event = try scanner.next() {
      switch event {
      case .start(let name, _):
        text = []
        if name == "hash" { (path, hashes) = (nil, [:]) }
      case .text(let more): text += more
      case .end("path"): path = BytePath(text)
      case .end("pattern"): read.ignored.append(String(decoding: text, as: UTF8.self))
      case .end("comment"): read.comment = String(decoding: text, as: UTF8.self)
      case .end("hash"):
        // The first hash of each format is what counts, as in the reference tool.
        if let path, let hashes { read.hashes[path] = hashes }
        hashes = nil
      case .end(let name):
        if hashes != nil { hashes?[name] = String(decoding: text, as: UTF8.self) }
      }
    }
    return read
  }
}

extension Timestamp {
  /// As XML has it, in UTC and without fractions.
  var seconds: String { rfc3339.prefix(19) + "Z" }
}
