import ContainerChecks
import Testing

@Suite("The checks one by one")
struct PieceTests {
  @Test("formats are recognised by their first bytes")
  func recognition() throws {
    func seen(_ bytes: [UInt8]) throws -> ContainerKind.Recognition {
      try ContainerKind.recognise(ByteSource(bytes + data(64)))
    }
    func brand(_ text: String) -> [UInt8] { box("ftyp", Array(text.utf8) + word(0)) }
    #expect(try seen(brand("isom")) == .video(.isoMedia(name: "mp4")))
    #expect(try seen(brand("qt  ")) == .video(.isoMedia(name: "mov")))
    #expect(try seen(brand("3gp5")) == .video(.isoMedia(name: "3gp")))
    #expect(try seen(box("moov")) == .video(.isoMedia(name: "mov")))
    #expect(try seen(matroska(clusters: 1)) == .video(.matroska(name: "webm")))
    #expect(try seen(avi(media: 9)) == .video(.avi))
    #expect(try seen(transportStream(packets: 9)) == .video(.transportStream(packet: 188)))
    #expect(try seen(flash(tags: 1)) == .video(.flash))
    for other in [brand("heic"), Array("GIF89a".utf8), Array("<!DOCTYPE html>".utf8), data(99)] {
      guard case .other = try seen(other) else {
        Issue.record("\(other.prefix(12)) is no video")
        continue
      }
    }
    let zeros = [UInt8](repeating: 0, count: 4_096)
    #expect(try ContainerKind.recognise(ByteSource(zeros)) == .nothingYet)
    #expect(try ContainerKind.recognise(ByteSource([0, 0, 0, 24])) == .nothingYet)
  }

  @Test("an index that points past the end is incomplete, also where the sum overflows")
  func index() {
    var index = IndexSummary()
    #expect(IndexRange.check([index], size: 100).outcome == .notProvable)
    index.add(PacketPlace(offset: 0, size: 60))
    index.add(PacketPlace(offset: 60, size: 40))
    index.add(PacketPlace(offset: 1_000, size: 0))
    #expect(IndexRange.check([index], size: 100).outcome == .passed)
    #expect(IndexRange.check([index], size: 99).outcome == .incomplete)
    index.add(PacketPlace(offset: .max, size: 7))
    #expect(IndexRange.check([index], size: 100).outcome == .incomplete)
  }

  @Test("an index summary keeps its ends, the farthest packet, and a spread of few")
  func summary() {
    var index = IndexSummary()
    for number in 0..<10_000 { index.add(PacketPlace(offset: Int64(number) * 10, size: 10)) }
    index.add(PacketPlace(offset: 5, size: 1))
    #expect(index.count == 10_001)
    #expect(index.first == PacketPlace(offset: 0, size: 10))
    #expect(index.last == PacketPlace(offset: 5, size: 1))
    #expect(index.farthest == PacketPlace(offset: 99_990, size: 10))
    #expect(index.spread.count <= 8)
    #expect(index.spread.contains { $0.offset > 20_000 && $0.offset < 80_000 })
  }

  @Test("packets of zeros are incomplete, unless black and silence are zeros in their codec")
  func packets() throws {
    let source = ByteSource(data(100) + [UInt8](repeating: 0, count: 100) + data(100))
    func check(_ offsets: [Int64], _ tolerance: ZeroTolerance) throws -> Finding.Outcome {
      var index = IndexSummary()
      for offset in offsets { index.add(PacketPlace(offset: offset, size: 100)) }
      return try PacketZeros.check(index, tolerance, source).outcome
    }
    #expect(try check([0, 200], .none) == .passed)
    #expect(try check([0, 100], .none) == .incomplete)
    #expect(try check([100, 200], .padding) == .incomplete)
    #expect(try check([0, 100, 200], .padding) == .incomplete)
    #expect(try check([0, 100, 200], .anything) == .notProvable)
    #expect(try check([0, 201], .none) == .incomplete)
    #expect(try check([], .none) == .incomplete)
  }

  @Test("zeros at the end are judged by what lies there")
  func zeroTail() throws {
    let zeros = [UInt8](repeating: 0, count: 50)
    let source = ByteSource(data(100) + zeros)
    #expect(try ZeroTail.length(source) == 50)
    #expect(try ZeroTail.length(ByteSource(data(100))) == 0)
    func check(
      contentEnd: Int64 = 150,
      inMedia: Bool = true,
      _ farthest: PacketPlace?,
      _ tolerance: ZeroTolerance
    ) throws -> Finding.Outcome {
      let report = StructureReport(
        Finding(.passed, ""),
        contentEnd: contentEnd,
        endsInMedia: inMedia
      )
      return try ZeroTail.check(report, farthest: farthest, tolerance: tolerance, source).outcome
    }
    let partly = PacketPlace(offset: 50, size: 100)
    let wholly = PacketPlace(offset: 142, size: 8)
    #expect(try check(partly, .none) == .incomplete)
    #expect(try check(partly, .padding) == .notProvable)
    #expect(try check(wholly, .padding) == .incomplete)
    #expect(try check(wholly, .anything) == .notProvable)
    #expect(try check(PacketPlace(offset: 0, size: 100), .none) == .passed)
    #expect(try check(inMedia: false, partly, .padding) == .incomplete)
    #expect(try check(contentEnd: 100, inMedia: false, nil, .none) == .passed)
  }

  @Test("a hole before the end is incomplete, the one at the end is not")
  func holes() {
    #expect(HoleCheck.check([], padding: []).outcome == .passed)
    #expect(HoleCheck.check([99..<100], padding: []).outcome == .incomplete)
    #expect(HoleCheck.check([40..<80], padding: [30..<80]).outcome == .passed)
    #expect(HoleCheck.check([40..<80, 90..<95], padding: [30..<80]).outcome == .incomplete)
    #expect(HoleCheck.check([20..<80], padding: [30..<80]).outcome == .incomplete)
  }

  @Test("packets far short of the declared duration are missing")
  func durations() {
    #expect(DurationCheck.shortfall(declared: 60, seen: 30) != nil)
    #expect(DurationCheck.shortfall(declared: 60, seen: 59.5) == nil)
    #expect(DurationCheck.shortfall(declared: 1_000, seen: 985) == nil)
    #expect(DurationCheck.shortfall(declared: nil, seen: 5) == nil)
  }

  @Test("a packet that does not begin as its codec's do is told")
  func looks() throws {
    func isPlausible(_ codec: String, _ bytes: [UInt8]) throws -> Bool {
      let place = PacketPlace(offset: 0, size: Int64(bytes.count))
      return try PacketLook.isPlausible(place, codec: codec, ByteSource(bytes))
    }
    #expect(try isPlausible("vp9", [0x82, 0x49, 0x83, 0x42]))
    #expect(try !isPlausible("vp9", [0x42, 0x49, 0x83, 0x42]))
    #expect(try isPlausible("h264", word(4) + data(4) + word(2) + data(2)))
    #expect(try isPlausible("h264", word(1) + data(9)))
    #expect(try !isPlausible("h264", word(40) + data(4)))
    #expect(try !isPlausible("mjpeg", data(9)))
    #expect(try isPlausible("something", data(9)))
    #expect(try !isPlausible("something", []))
  }

  @Test("no walker fails or runs without end on random bytes", arguments: 0..<40)
  func randomBytes(seed: Int) throws {
    var state = UInt64(seed) &* 0x9E37_79B9_7F4A_7C15 | 1
    func next() -> UInt8 {
      state ^= state << 13
      state ^= state >> 7
      state ^= state << 17
      return UInt8(truncatingIfNeeded: state >> 32)
    }
    let starts = [
      box("ftyp", data(8)) + movie(samples: 1, fragmented: true), matroska(clusters: 2),
      avi(media: 40), transportStream(packets: 20), flash(tags: 4),
      movie(samples: 0, fragmented: true) + fragment(start: 0, samples: 3),
    ]
    for var bytes in starts {
      for _ in 0..<8 { bytes[16 + Int(next()) * (bytes.count - 16) / 256] = next() }
      let source = ByteSource(bytes)
      guard case .video(let kind) = try ContainerKind.recognise(source) else { continue }
      _ = try StructureReport.of(kind, source)
    }
  }
}
