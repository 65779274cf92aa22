import Glibc
import HandoffTestSupport
import LinuxSystem
import Paths

/// What WriteRecorder.c has recorded, in order.
struct WriteLog {
  /// One call, or one half of a wait for the disk; files and folders go by inode number.
  enum Record {
    case create(folder: UInt64, name: BytePath, file: UInt64, mode: UInt32)
    case write(file: UInt64, offset: Int, bytes: Range<Int>)
    case truncate(file: UInt64, size: Int)
    case syncBegin(UInt64, wait: UInt64)
    case syncEnd(wait: UInt64)
    /// A folder of 0 is one that is not recorded.
    case rename(from: (UInt64, BytePath), to: (UInt64, BytePath), file: UInt64, exchanges: Bool)
    case link(folder: UInt64, name: BytePath, file: UInt64)
    case unlink(folder: UInt64, name: BytePath, file: UInt64)
    case makeFolder(folder: UInt64, name: BytePath, made: UInt64, mode: UInt32)
    case removeFolder(folder: UInt64, name: BytePath)
    /// What a file holds that was written by somebody who is not recorded.
    case base(file: UInt64, mode: UInt32, bytes: Range<Int>)
    case say(socket: UInt64, bytes: Range<Int>)
    case hear(socket: UInt64, bytes: Range<Int>)
    case close(socket: UInt64)
    case mode(file: UInt64, UInt32)
  }

  let records: [Record]
  /// The whole log; the ranges of records lie in it.
  let bytes: [UInt8]

  init(_ path: BytePath) throws {
    bytes = try FileDescriptor.open(path, O_RDONLY).readAll(limit: 1 << 30)
    var records: [Record] = []
    var position = 0
    while position + Self.headSize <= bytes.count {
      let words = bytes.withUnsafeBytes { raw in
        (0..<9).map { raw.loadUnaligned(fromByteOffset: position + 8 * $0, as: UInt64.self) }
      }
      guard words[0] == Self.magic else {
        // A record that a kill has cut off: the next whole one follows.
        position += 1
        continue
      }
      let first = position + Self.headSize
      let second = first + Int(words[7])
      let end = second + Int(words[8])
      guard end <= bytes.count else { break }
      guard let record = Self.record(words, first..<second, second..<end, bytes) else {
        throw TestSupportError("the write log has an unknown operation \(words[2])")
      }
      records.append(record)
      position = end
    }
    self.records = records
  }

  private static let headSize = 72
  private static let magic: UInt64 = 0x4452_4F43_4552_4854

  private static func record(
    _ words: [UInt64],
    _ first: Range<Int>,
    _ second: Range<Int>,
    _ bytes: [UInt8]
  ) -> Record? {
    let (a, b, c, d) = (words[3], words[4], words[5], words[6])
    let name = BytePath(bytes[first].prefix(4096))
    switch words[2] {
    case 1: return .create(folder: a, name: name, file: b, mode: UInt32(c))
    case 2: return .write(file: a, offset: Int(b), bytes: first)
    case 3: return .truncate(file: a, size: Int(b))
    case 4: return .syncBegin(a, wait: b)
    case 5: return .syncEnd(wait: b)
    case 6:
      let to = (b, BytePath(bytes[second]))
      return .rename(from: (a, name), to: to, file: c, exchanges: d & exchange != 0)
    case 7: return .link(folder: a, name: name, file: b)
    case 8: return .unlink(folder: a, name: name, file: b)
    case 9: return .makeFolder(folder: a, name: name, made: b, mode: UInt32(c))
    case 10: return .removeFolder(folder: a, name: name)
    case 11: return .base(file: a, mode: UInt32(b), bytes: first)
    case 12: return .say(socket: a, bytes: first)
    case 13: return .hear(socket: a, bytes: first)
    case 14: return .close(socket: a)
    case 15: return .mode(file: a, UInt32(b))
    default: return nil
    }
  }
}

/// `RENAME_EXCHANGE` of linux/fs.h, which the importer does not see.
private let exchange: UInt64 = 2
