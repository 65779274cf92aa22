import Glibc
import HandoffPluginKit
import HandoffProtocol
import LinuxSystem
import Paths

/// An archive in a folder of this machine, or one that is mounted here.
struct LocalStore: ArchiveStore {
  let folder: BytePath
  let keepsMHL: Bool

  func keep(
    _ item: ArchiveItem,
    _ progress: @escaping @Sendable (Double) async -> Void
  ) async throws -> ArchiveReceipt {
    try await ArchiveCopy(item, root: folder, wantsMHL: keepsMHL).keep(progress)
  }

  func finish(_ handoffID: String, _ copies: [ArchiveReceipt]) async throws -> [ArchiveReceipt] {
    guard keepsMHL else { return copies }
    let thread = BlockingThread("archive.history")
    return try await thread.run { try Delivery(handoffID: handoffID, copies: copies).listed() }
  }

  func verify(_ asset: DeliveredAsset, at path: BytePath?) async throws -> VerifiedAsset {
    var answer = VerifiedAsset(localIdentifier: asset.localIdentifier, standing: .unknown)
    guard let path else {
      answer.message = "The receipt tells of no path."
      return answer
    }
    answer.location = path.displayText
    guard path.isPlain, path.isInside(folder.tidied) else {
      answer.message = "It was kept outside of the archive's present folder \(folder.displayText)."
      return answer
    }
    do {
      answer.standing = try await standing(asset, path)
      if answer.standing != .missing { answer.method = "sha256" }
    } catch let error as SystemError {
      answer.message = "\(error)"
    }
    return answer
  }

  private func standing(
    _ asset: DeliveredAsset,
    _ path: BytePath
  ) async throws -> VerifiedAsset.Standing {
    let thread = BlockingThread("archive.verify")
    let folder = folder
    let file = try await thread.run { () throws(SystemError) -> FileDescriptor? in
      guard let found = try FileStatus.of(path) else {
        // An archive that is not mounted has lost nothing.
        let root = try FileDescriptor.open(folder, O_RDONLY | O_DIRECTORY)
        guard try !Directory.entries(of: root, folder).isEmpty else {
          throw SystemError(ENODEV, "the archive's folder is empty, is it mounted?", folder)
        }
        return nil
      }
      guard found.kind == .regular else { throw SystemError(EINVAL, "open", path) }
      return try FileDescriptor.open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
    }
    guard let file else { return .missing }
    let digests = try await CopyPass(file, size: asset.size, wantsMHL: false).digests()
    return digests?.sha256 == asset.sha256 ? .intact : .damaged
  }
}

/// The copies of one handoff, for their MHL histories.
private struct Delivery {
  let handoffID: String
  let copies: [ArchiveReceipt]

  /// Adds one generation to each history, and tells it in the receipts.
  func listed() throws -> [ArchiveReceipt] {
    var copies = copies
    var entries: [BytePath: [(index: Int, entry: MHLGeneration.Entry)]] = [:]
    for (index, copy) in copies.enumerated() {
      guard let unit = copy.unit, let hashes = copy.mhl else { continue }
      let history = try MHLHistory.nearest(to: copy.path.parent, unit: unit)
      guard let path = copy.path.relative(to: history.unit), MHLText.escaped(path.bytes) != nil
      else {
        let reason = "its name cannot be written in XML"
        copies[index].more["mhl"] = .object(["left_out": .string(reason)])
        continue
      }
      let modified = try FileStatus.of(copy.path)?.modified ?? 0
      let entry = MHLGeneration.Entry(
        path: path,
        size: copy.size,
        modified: Timestamp(milliseconds: modified / 1_000_000),
        hashes: hashes,
        isVerified: false
      )
      entries[history.unit, default: []].append((index, entry))
    }
    for (unit, group) in entries {
      let added = try add(group.map(\.entry), to: MHLHistory(unit: unit))
      for (index, _) in group {
        copies[index].more["mhl"] = .object([
          "generation": .integer(Int64(added.number)), "manifest": .string(added.path.lossyText),
        ])
      }
    }
    return copies
  }

  private func add(
    _ entries: [MHLGeneration.Entry],
    to history: MHLHistory
  ) throws -> MHLHistory.Added {
    do {
      return try history.add(entries, handoffID: handoffID, now: .present)
    } catch let problem as MHLProblem {
      throw ResultError(
        .receiverFailed,
        "the copy is kept and right, but the MHL history of \(history.unit.displayText) cannot be gone on with: \(problem)",
        effect: .none,
        retry: .afterFix,
        remedy: "Mend it, or move its `ascmhl` folder away: a new history is then begun."
      )
    } catch let error as SystemError {
      throw ArchiveError.result(error)
    }
  }
}

extension Timestamp {
  /// The clock of this machine.
  fileprivate static var present: Timestamp {
    var time = timespec()
    clock_gettime(CLOCK_REALTIME, &time)
    return Timestamp(milliseconds: Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000)
  }
}
