import ContainerChecks
import Testing

/// Each walker on files of its own making: whole, cut at every byte, and with odd but allowed ends.
@Suite("Outer structure")
struct StructureTests {
  private func report(_ bytes: [UInt8]) throws -> StructureReport {
    let source = ByteSource(bytes)
    guard case .video(let kind) = try ContainerKind.recognise(source) else {
      return StructureReport(Finding(.unsuitable, "not recognised"), contentEnd: 0)
    }
    return try StructureReport.of(kind, source)
  }

  private func outcome(_ bytes: [UInt8]) throws -> Finding.Outcome {
    try report(bytes).finding.outcome
  }

  private let start = box("ftyp", Array("isom".utf8) + word(0))

  @Test("boxes that fill the file pass, in either order")
  func wholeMovie() throws {
    let media = box("mdat", data(300))
    #expect(try outcome(start + movie(samples: 3) + media) == .passed)
    #expect(try outcome(start + media + movie(samples: 3)) == .passed)
  }

  @Test("a movie that is cut at any byte is not whole")
  func cutMovie() throws {
    for bytes in [
      start + box("mdat", data(300)) + movie(samples: 3),
      start + movie(samples: 3) + box("mdat", data(300)),
    ] {
      let mediaStart = start.count + movie(samples: 3).count
      for length in 0..<bytes.count {
        // Without a byte of the media box, only the index can tell; a movie alone fills its file.
        if length == mediaStart, bytes[start.count + 4] == UInt8(ascii: "m"),
          bytes[start.count + 5] == UInt8(ascii: "o")
        {
          continue
        }
        #expect(try outcome(Array(bytes[..<length])) >= .unsuitable, "\(length) bytes")
      }
    }
  }

  @Test("64-bit sizes, sizes to the end, and padding are allowed")
  func boxSizes() throws {
    let long = word(1) + Array("mdat".utf8) + word(0) + word(316) + data(300)
    #expect(try outcome(start + movie(samples: 3) + long) == .passed)
    #expect(try outcome(start + movie(samples: 3) + long.dropLast()) == .incomplete)
    let open = word(0) + Array("mdat".utf8) + data(300)
    #expect(try outcome(start + movie(samples: 3) + open) == .passed)
    let padded = try report(start + box("mdat", data(9)) + movie(samples: 3) + box("free", [0, 0]))
    #expect(padded.finding.outcome == .passed)
    #expect(padded.contentEnd == Int64(start.count + 17 + movie(samples: 3).count))
  }

  @Test("a movie without samples or without a movie box is not finished")
  func emptyMovie() throws {
    #expect(try outcome(start + movie(samples: 0) + box("mdat", data(9))) == .incomplete)
    #expect(try outcome(start + box("mdat", data(99))) == .incomplete)
  }

  @Test("boxes that do not fill the movie box are a defect, zeros at its end are not")
  func innerBoxes() throws {
    let good = movie(samples: 3)
    let inner = Array(good.dropFirst(8))
    let media = box("mdat", data(9))
    #expect(try outcome(start + media + box("moov", inner + [0, 0, 0, 0])) == .passed)
    #expect(try outcome(start + media + box("moov", inner + word(0) + word(0))) == .incomplete)
    #expect(try outcome(start + media + box("moov", inner + word(99) + word(1))) == .incomplete)
  }

  @Test("encrypted sample entries are found", arguments: ["encv", "drmi"])
  func encryptedMovie(format: String) throws {
    let bytes = start + movie(samples: 3, format: format) + box("mdat", data(9))
    #expect(try report(bytes).encryption != nil)
    #expect(try report(start + movie(samples: 3) + box("mdat", data(9))).encryption == nil)
  }

  @Test("fragments are whole only with the box that ends them, and say how long they last")
  func fragments() throws {
    let parts = start + movie(samples: 0, fragmented: true) + fragment(start: 900_000, samples: 5)
    let both = parts + fragment(start: 900_200, samples: 5)
    let open = try report(both)
    #expect(open.finding.outcome == .notProvable)
    #expect(abs((open.duration ?? 0) - 0.4) < 1e-9)
    #expect(open.tracks.first?.packets.count == 10)
    #expect(open.tracks.first?.packets.farthest?.end == Int64(both.count))
    let closed = try report(both + fragmentsEnd)
    #expect(closed.finding.outcome == .passed)
    for missing in 1..<(100 + fragmentsEnd.count) {
      #expect(try outcome((both + fragmentsEnd).dropLast(missing)) >= .notProvable)
    }
  }

  @Test("a Matroska segment that fills the file passes, and is cut at any byte")
  func matroskaSegment() throws {
    let bytes = matroska(clusters: 3, duration: 3_000)
    let whole = try report(bytes)
    #expect(whole.finding.outcome == .passed)
    #expect(abs((whole.duration ?? 0) - 3) < 1e-9)
    for length in 16..<bytes.count {
      #expect(try outcome(Array(bytes[..<length])) == .incomplete, "\(length) bytes")
    }
  }

  @Test("a segment without a size is not provable, and incomplete where its header promises more")
  func liveMatroska() throws {
    #expect(try outcome(matroska(clusters: 3, unknownSize: true)) == .notProvable)
    let planned = matroska(clusters: 3, duration: 60_000, unknownSize: true)
    #expect(try outcome(planned) == .incomplete)
    #expect(try outcome(matroska(clusters: 3, unknownSize: true).dropLast(30)) == .incomplete)
  }

  @Test("encryption of a Matroska track and padding at its end are seen")
  func matroskaDetails() throws {
    #expect(try report(matroska(clusters: 1, encrypted: true)).encryption != nil)
    let void = element([0xec], [UInt8](repeating: 0, count: 50))
    let bytes = matroska(clusters: 1, tail: void)
    let padded = try report(bytes)
    #expect(padded.finding.outcome == .passed)
    #expect(padded.contentEnd == Int64(bytes.count - void.count))
    #expect(try outcome(matroska(clusters: 0)) == .incomplete)
    #expect(try outcome(matroska(clusters: 1, tail: [0, 0, 0, 0])) == .incomplete)
  }

  @Test("an AVI file of one or more RIFF chunks passes, and is cut at any byte")
  func riff() throws {
    let bytes = avi(media: 301)
    #expect(try outcome(bytes) == .passed)
    let extended = chunk("RIFF", Array("AVIX".utf8) + chunk("LIST", data(100)))
    #expect(try outcome(bytes + extended) == .passed)
    #expect(try outcome(bytes + [1, 2, 3, 4]) == .passed)
    for length in 16..<bytes.count {
      #expect(try outcome(Array(bytes[..<length])) == .incomplete, "\(length) bytes")
    }
    var unwritten = bytes
    unwritten.replaceSubrange(4..<8, with: [0, 0, 0, 0])
    #expect(try outcome(unwritten) == .incomplete)
  }

  @Test(
    "transport streams are whole packets, of which none proves the end",
    arguments: [188, 192, 204]
  )
  func transport(size: Int) throws {
    let bytes = transportStream(packets: 200, size: size)
    #expect(try outcome(bytes) == .notProvable)
    #expect(try outcome(bytes.dropLast(1)) == .incomplete)
    let zeroed = bytes.dropLast(size * 2) + [UInt8](repeating: 0, count: size * 2)
    #expect(try outcome(Array(zeroed)) == .incomplete)
    let scrambled = transportStream(packets: 200, size: size, scrambled: true)
    #expect(try report(scrambled).encryption != nil)
    #expect(try report(bytes).encryption == nil)
  }

  @Test("the last FLV tag is whole, which does not prove the end")
  func tags() throws {
    let bytes = flash(tags: 10)
    let whole = try report(bytes)
    #expect(whole.finding.outcome == .notProvable)
    #expect(whole.duration == 0.36)
    for missing in 1..<115 { #expect(try outcome(bytes.dropLast(missing)) == .incomplete) }
    #expect(try outcome(bytes.dropLast(115)) == .notProvable)
  }

  @Test("the last Ogg page is whole, which does not prove the end")
  func pages() throws {
    let page =
      Array("OggS".utf8) + [UInt8](repeating: 0, count: 22) + [2, 255, 45] + data(300)
    #expect(try outcome(page + page) == .notProvable)
    for missing in 1..<page.count {
      #expect(try outcome((page + page).dropLast(missing)) == .incomplete)
    }
    #expect(try outcome((page + page).dropLast(page.count)) == .notProvable)
  }
}

extension StructureTests {
  private func outcome(_ bytes: ArraySlice<UInt8>) throws -> Finding.Outcome {
    try outcome(Array(bytes))
  }
}
