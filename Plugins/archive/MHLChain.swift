import Paths

/// The list of a history's generations, `ascmhl_chain.xml`, each with the C4 ID of its file.
struct MHLChain {
  static let fileName: BytePath = "ascmhl_chain.xml"

  /// One generation.
  struct Link: Hashable {
    var number: Int
    var name: BytePath
    var c4: String
  }

  private(set) var links: [Link] = []
  /// As it is on the disk: what is there is never written anew.
  private var document: [UInt8] = Array(
    """
    <?xml version="1.0" encoding="UTF-8"?>
    <ascmhldirectory xmlns="urn:ASC:MHL:DIRECTORY:v2.0">
    </ascmhldirectory>

    """.utf8
  )

  private static let ending = Array("</ascmhldirectory>".utf8)

  /// A chain without a generation.
  init() {}

  /// Reads a chain; a link without a C4 ID cannot be checked and makes it malformed.
  init(_ document: [UInt8]) throws(MHLScanner.Malformed) {
    self.document = document
    var scanner = MHLScanner(document)
    var text: [UInt8] = []
    var link = Link(number: 0, name: "", c4: "")
    var depth = 0
    while let event = try scanner.next() {
      switch event {
      case .start(let name, let attributes):
        text = []
        depth += 1
        if name == "hashlist" {
          link = Link(number: attributes["sequencenr"].flatMap { Int($0) } ?? 0, name: "", c4: "")
        }
      case .text(let more): text += more
      case .end(let name):
        depth -= 1
        if name == "path" { link.name = BytePath(text) }
        if name == "c4" { link.c4 = String(decoding: text, as: UTF8.self) }
        if name == "hashlist" {
          guard link.number > 0, !link.c4.isEmpty, link.name.components == [link.name] else {
            throw MHLScanner.Malformed()
          }
          links.append(link)
        }
      }
    }
    guard depth == 0, !document.isEmpty, endingPlace != nil else { throw MHLScanner.Malformed() }
  }

  /// The number of the next generation.
  var nextNumber: Int { (links.map(\.number).max() ?? 0) + 1 }

  private var endingPlace: Int? {
    stride(from: document.count - Self.ending.count, through: 0, by: -1).first { place in
      document[place...].starts(with: Self.ending)
    }
  }

  /// The document with one more generation at its end.
  func document(adding link: Link) -> [UInt8] {
    let place = endingPlace ?? document.count
    let addition = """
        <hashlist sequencenr="\(link.number)">
          <path>\(MHLText.lossy(link.name))</path>
          <c4>\(link.c4)</c4>
        </hashlist>

      """
    return document[..<place] + Array(addition.utf8) + document[place...]
  }
}
