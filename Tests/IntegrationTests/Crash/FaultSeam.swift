import Glibc
import HandoffTestSupport
import LinuxSystem
import Paths

/// The preloaded library that counts a program's calls and stops it at one of them
/// (Tests/Fixtures/FaultSeam).
struct FaultSeam: Sendable {
  /// What happens at the N-th point.
  enum Plan: Hashable, Sendable {
    case kill(Int)
    /// From the N-th call of these kinds on, so many fail.
    case fail(Int, errno: CInt, length: Int)

    static let count = Plan.kill(0)

    var ordinal: Int {
      switch self {
      case .kill(let ordinal): ordinal
      case .fail(let ordinal, _, _): ordinal
      }
    }

    fileprivate var text: String {
      switch self {
      case .kill(let ordinal): "\(ordinal):kill"
      case .fail(let ordinal, EAGAIN, let length): "\(ordinal):\(EAGAIN):\(length):lock"
      case .fail(let ordinal, let errno, let length):
        "\(ordinal):\(errno):\(length):fsync,commit,ledger,rename,link,unlink,create,write"
      }
    }
  }

  /// A point that was passed or that stopped the program.
  struct Point: Hashable, Sendable, CustomStringConvertible {
    let kind: String
    let description: String
    /// An error here may change nothing that anybody can see: SQLite waits for a refused lock and goes
    /// another way without a temporary file, what was not removed is removed later, and a receiver's output
    /// may lack a line.
    var mayBeInvisible: Bool { ["lock", "create", "unlink", "write"].contains(kind) }
  }

  /// The compiled library.
  let library: BytePath

  /// Compiles the library.
  ///
  /// - Throws: ``TestSupportError`` with what the compiler said.
  init(in folder: BytePath) async throws {
    library = folder.appending("fault-seam.so")
    let source = BytePath(#filePath).parent.parent.parent
      .appending("Fixtures/FaultSeam/FaultSeam.c")
    let line = "clang -shared -fPIC -O1 -Wall -Werror -o '\(library)' '\(source)' -ldl"
    guard await shell(line) == 0 else { throw TestSupportError("failed: \(line)") }
  }

  /// The environment of a program that is to be stopped; of a broker whose receiver is, too.
  func environment(_ program: String, _ plan: Plan, in root: BytePath) -> [String] {
    [
      "LD_PRELOAD=\(library)", "SEAM_PROGRAM=\(program)", "SEAM_PLAN=\(plan.text)",
      "SEAM_ARM=\(root.appending("armed"))", "SEAM_CALM=\(root.appending("calm"))",
      "SEAM_LOG=\(root.appending("seam.log"))",
    ]
  }

  /// From here on points are counted.
  static func arm(_ root: BytePath) throws {
    try DurableFile.write([], to: root.appending("armed"))
  }

  /// From here on nothing fails any more.
  static func calm(_ root: BytePath) throws {
    try DurableFile.write([], to: root.appending("calm"))
  }

  /// The points that were passed, and the one that was hit.
  static func points(in root: BytePath) throws -> (passed: Int, hit: Point?) {
    let path = root.appending("seam.log")
    guard try FileStatus.of(path) != nil else { return (0, nil) }
    let text = String(
      decoding: try FileDescriptor.open(path, O_RDONLY).readAll(limit: 1 << 24),
      as: UTF8.self
    )
    let lines = text.split(separator: "\n")
    let hit = lines.first { $0.hasPrefix("hit ") }
    let words = hit?.split(separator: " ") ?? []
    guard words.count == 5 else { return (lines.count, nil) }
    let what = words[2...].joined(separator: " ")
    return (lines.count, Point(kind: String(words[2]), description: "\(words[1]) \(what)"))
  }
}
