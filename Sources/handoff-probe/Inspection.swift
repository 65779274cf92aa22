import ContainerChecks
import Glibc
import HandoffCore
import LinuxSystem

/// All checks of one file, in an order that spares the costly ones.
struct Inspection {
  private let descriptor: FileDescriptor
  private let source: ByteSource
  private var evidence: [Evidence] = []
  private var worst = Finding.Outcome.passed

  /// Makes the verdict on an open file.
  ///
  /// `expected` is the size that the caller has seen, in bytes; another one means that it changes.
  static func verdict(_ descriptor: FileDescriptor, expected: Int64? = nil) -> ProbeVerdict {
    do {
      let size = try descriptor.status().size
      if let expected, expected != size {
        let detail = "the size changed from \(expected) to \(size) bytes"
        return ProbeVerdict(
          .incomplete,
          evidence: [Evidence(.structure, passed: false, detail)]
        )
      }
      var inspection = Inspection(descriptor, size: size)
      return try inspection.run()
    } catch let error as VideoFile.OpenError {
      return failed(error.readError == 0 ? error.text : "\(SystemError(error.readError, "pread"))")
    } catch {
      return failed("\(error)")
    }
  }

  private static func failed(_ detail: String) -> ProbeVerdict {
    ProbeVerdict(.failed, evidence: [Evidence(.probe, passed: false, detail)])
  }

  private init(_ descriptor: FileDescriptor, size: Int64) {
    self.descriptor = descriptor
    source = ByteSource(size: size) { offset, count in
      try [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
        filled = try descriptor.read(into: UnsafeMutableRawBufferPointer(buffer), at: offset)
      }
    }
  }

  /// A file with more holes than this is not looked through to its end.
  private static let holeLimit = 1_000

  private mutating func note(_ check: Evidence.Check, _ finding: Finding) {
    worst = max(worst, finding.outcome)
    evidence.append(Evidence(check, passed: finding.isAcceptable, finding.detail))
  }

  private mutating func run() throws -> ProbeVerdict {
    let kind: ContainerKind
    switch try ContainerKind.recognise(source) {
    case .nothingYet:
      note(.structure, Finding(.incomplete, "nothing is written at the beginning yet"))
      return verdict()
    case .other(let what):
      let zeros = try ZeroTail.length(source)
      if zeros >= 512 {
        note(.structure, Finding(.incomplete, "\(what) yet: it ends in \(zeros) zero bytes"))
      } else {
        note(.video, Finding(.unsuitable, what))
      }
      return verdict()
    case .video(let found): kind = found
    }
    let report = try StructureReport.of(kind, source)
    note(.structure, report.finding)
    let holes = try descriptor.holes(size: source.size, limit: Self.holeLimit)
    note(.holes, HoleCheck.check(holes, padding: report.padding))
    guard worst < .incomplete else { return verdict() }
    return try inspectMedia(kind, report)
  }

  private mutating func inspectMedia(
    _ kind: ContainerKind,
    _ report: StructureReport
  ) throws -> ProbeVerdict {
    if let encryption = report.encryption {
      note(.encryption, Finding(.unsuitable, encryption))
      return verdict()
    }
    note(.encryption, Finding(.passed, "no packet is encrypted"))
    guard let file = try open(kind) else { return verdict() }
    var video = file.video
    if kind.needsStreamInfo || video.map({ $0.leavesOpen }) ?? false {
      file.findStreamInfo()
      video = file.video
    }
    guard let video, let codec = video.codec else {
      note(.video, noVideo(file, report))
      return verdict()
    }
    let tracks = TrackReading(file: file, video: video, kind: kind, report: report)
    note(.index, tracks.indexFinding(size: source.size))
    guard worst < .incomplete else { return verdict() }
    note(.packets, try tracks.packetFinding(source, codec: codec))
    guard worst < .incomplete else { return verdict() }
    note(.video, try decodeFinding(kind, tracks, codec))
    if file.readError != 0 { throw SystemError(file.readError, "pread") }
    guard worst <= .notProvable else { return verdict() }
    return verdict(tracks.facts(codec: codec))
  }

  private mutating func open(_ kind: ContainerKind) throws(VideoFile.OpenError) -> VideoFile? {
    do throws(VideoFile.OpenError) {
      return try VideoFile(descriptor, size: source.size, kind: kind)
    } catch {
      if error.isOurs { throw error }
      // Where nothing declares an end, the rest of the header may still come.
      let outcome: Finding.Outcome = kind.needsStreamInfo ? .incomplete : .unsuitable
      note(.video, Finding(outcome, "the header cannot be read: \(error.text)"))
      return nil
    }
  }

  private func noVideo(_ file: VideoFile, _ report: StructureReport) -> Finding {
    let streams = file.streams
    if streams.isEmpty { return Finding(.incomplete, "no track yet") }
    let hasPicture = streams.contains { $0.isPicture }
    return Finding(.unsuitable, hasPicture ? "a picture, but no video track" : "no video track")
  }

  /// One frame is decoded where the header leaves something open or its packets look odd.
  private func decodeFinding(
    _ kind: ContainerKind,
    _ tracks: TrackReading,
    _ codec: String
  ) throws -> Finding {
    let size = "\(codec), \(tracks.video.width)x\(tracks.video.height)"
    let looksRight = try tracks.firstPacketLooksRight(source, codec: codec)
    guard kind.needsStreamInfo || tracks.isSuspicious || !looksRight else {
      return Finding(.passed, size)
    }
    switch FrameDecoder.firstFrame(of: tracks.video, in: tracks.file) {
    case .decoded: return Finding(.passed, "\(size), a frame decoded")
    case .noDecoder: return Finding(.passed, "\(size), which this host cannot decode")
    case .nothing: return Finding(.unsuitable, "\(size), of which no frame decodes")
    }
  }

  private func verdict(_ facts: MediaFacts? = nil) -> ProbeVerdict {
    let judgement: ProbeVerdict.Judgement =
      switch worst {
      case .passed: .complete
      case .notProvable: .notProvable
      case .unsuitable: .unsuitable
      case .incomplete: .incomplete
      }
    return ProbeVerdict(judgement, facts: facts, evidence: evidence)
  }
}

extension ContainerKind {
  /// The header does not say what the tracks are.
  fileprivate var needsStreamInfo: Bool {
    switch self {
    case .isoMedia, .matroska, .avi: false
    case .transportStream, .flash, .programStream, .advancedSystems, .ogg, .materialExchange: true
    }
  }
}

extension VideoStream {
  /// The header leaves the codec or the size open.
  fileprivate var leavesOpen: Bool { codec == nil || width <= 0 || height <= 0 }
}

extension FileDescriptor {
  /// The first holes, with the position put back: the sender of the descriptor shares it.
  ///
  /// The virtual hole at the file's end is none of them.
  fileprivate func holes(size: Int64, limit: Int) throws(SystemError) -> [Range<Int64>] {
    guard size > 0 else { return [] }
    let position = try checked("lseek") { lseek(rawValue, 0, SEEK_CUR) }
    var holes: [Range<Int64>] = []
    var offset: Int64 = 0
    while offset < size, holes.count < limit {
      let start = try firstHole(from: offset)
      guard start < size else { break }
      let end = min(try nextData(from: start) ?? size, size)
      // A writer may have filled it between the two questions.
      if end > start { holes.append(start..<end) }
      offset = max(end, start + 1)
    }
    // What was not looked at is not known to be written.
    if offset < size, holes.count == limit { holes.append(offset..<size) }
    try checked("lseek") { lseek(rawValue, position, SEEK_SET) }
    return holes
  }
}
