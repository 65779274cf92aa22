import Glibc
import HandoffProtocol
import HandoffTestSupport
import LinuxSystem
import Paths

/// Goes through a write log, and judges what the disk may hold at each cut.
struct PowerLossWalk: CustomStringConvertible {
  private let log: WriteLog
  private let before: PowerLossScene.Before
  private let config: BytePath
  private let seed: UInt64
  private(set) var promised: Promises
  private(set) var faults: [String] = []
  private var cuts = 0
  private var states = 0
  private var starts = 0

  init(_ log: WriteLog, _ before: PowerLossScene.Before, _ config: BytePath, _ seed: UInt64) {
    self.log = log
    self.before = before
    self.config = config
    self.seed = seed
    promised = Promises(folders: before.folders)
  }

  var description: String {
    """
    power loss: \(cuts) cuts × \(Survival.allCases.count) variants, \(starts) brokers started on \
    them, \(faults.count) faults
    """
  }

  /// Cuts the power before each of some records, in order, and starts a broker on some of the states.
  mutating func run(cuts moments: [Int], starts: Int) async throws {
    var disk = DiskModel(log: log.bytes, root: before.root)
    for (name, folder, inode, isFolder) in before.entries {
      disk.add(name, to: folder, inode: inode, isFolder: isFolder)
    }
    var random = SeededGenerator(seed: seed &+ 1)
    let states = moments.count * Survival.allCases.count
    var started: Set<Int> = []
    for _ in 0..<starts { started.insert(Int.random(in: 0..<states, using: &random)) }
    var done = 0
    for moment in moments {
      while done < moment {
        promised.take(log.records[done], at: done, log.bytes)
        disk.apply(log.records[done])
        done += 1
      }
      try await judge(disk, at: moment, started)
      cuts += 1
    }
  }

  private mutating func judge(_ disk: DiskModel, at moment: Int, _ started: Set<Int>) async throws {
    let check = PowerLossCheck(promises: promised, sources: before.sources)
    for survival in Survival.allCases {
      let image = DiskImage(disk, survival, seed: seed &+ UInt64(moment) &* 31)
      var found = try await check.faults(image)
      if started.contains(states) {
        starts += 1
        found += try await PowerLossRestart(image: image, config: config, promises: promised)
          .faults()
      }
      states += 1
      faults += found.map { "cut before record \(moment), \(survival): \($0)" }
    }
  }
}
