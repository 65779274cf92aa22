import Glibc
import HandoffProtocol
import LinuxSystem
package import Paths

/// What containment has kept from a receiver, read from the receiver's own words.
///
/// Bubblewrap tells nobody what it denied: what is not shown is simply not there. So the words are
/// compared with what the receiver was shown, and a path that the machine has and the receiver has not
/// is named.
package enum ContainmentDenial: Hashable, Sendable {
  case notShown(BytePath)
  case readOnly(BytePath)
  /// It is the broker's own.
  case hidden(BytePath)
  /// A library that the dynamic loader looked for.
  case library(String)
  case network
  /// Something that the machine has below this folder, of which the receiver has one of its own.
  case own(BytePath, of: BytePath)
  /// Nobody listens there in the receiver's own loopback.
  case loopback
  /// One of its folders in memory is full.
  case memory(BytePath)
  /// A link between two places that it sees as two file systems.
  case link
  /// What only an owner or root may do.
  case rights

  /// The last denial that a text tells of.
  package static func find(
    in words: String,
    under plan: Containment,
    isThere: (BytePath) -> Bool = Self.machineHas
  ) -> ContainmentDenial? {
    for line in words.split(separator: "\n").suffix(50).reversed() {
      if let denial = denial(String(line.prefix(2000)), plan, isThere) { return denial }
    }
    return nil
  }

  package static func machineHas(_ path: BytePath) -> Bool {
    access(path.nulTerminated, F_OK) == 0
  }

  /// One sentence.
  package var sentence: String {
    switch self {
    case .notShown(let path): "its containment does not show it \(path.displayText)"
    case .readOnly(let path): "its containment lets it only read \(path.displayText)"
    case .hidden(let path): "\(path.displayText) is the broker's own, and no receiver sees it"
    case .library(let name): "its containment does not show it the library \(name)"
    case .network: "its containment gives it no network"
    case .own(let path, let folder):
      "its \(folder.displayText) is its own, so its containment does not show it \(path.displayText)"
    case .loopback: "its containment gives it a loopback of its own, where nobody else listens"
    case .memory(let folder):
      "its \(folder.displayText) is its own and in memory, and holds at most "
        + "\(Containment.memoryFolderSize >> 20) MiB"
    case .link: "its containment shows it each of its folders as a file system of its own"
    case .rights: "its containment lets it change no owner and use no right of root's"
    }
  }

  /// What a person can do about it.
  package var remedy: String {
    switch self {
    case .notShown(let path):
      "add \(path.parent.displayText) to the destination's read, or to its write"
    case .readOnly(let path) where Self.isOfSystem(path):
      "let it write into HANDOFF_WORK; what belongs to the system is never a receiver's to write"
    case .readOnly(let path):
      "add \(path.parent.displayText) to the destination's write; an asset is never written"
    case .hidden: "let it use HANDOFF_WORK, and the paths that it is granted"
    case .library: "add the folder of the library to the destination's read"
    case .network, .loopback: "set network = true at the destination"
    case .own(let path, _) where path.isInside("/proc"):
      "let it do without: it sees its own processes only"
    case .own(let path, _):
      "keep \(path.lastComponent) in another folder, and add that to the destination's read or write"
    case .memory: "let it put what is large into HANDOFF_WORK, which is on a disk"
    case .link: "let it copy, or link within HANDOFF_WORK"
    case .rights: "let it do without: its files are the broker's user's"
    }
  }

  /// Of the system everything is shown to read, and nothing of it is anybody's to write.
  private static func isOfSystem(_ path: BytePath) -> Bool {
    systemFolders.contains { path.isInside($0) }
  }

  private static let systemFolders: [BytePath] = [
    "/bin", "/boot", "/dev", "/etc", "/lib", "/lib32", "/lib64", "/libx32", "/proc", "/run",
    "/sbin",
    "/sys", "/usr",
  ]

  // MARK: Reading a line

  private static func denial(
    _ line: String,
    _ plan: Containment,
    _ isThere: (BytePath) -> Bool
  ) -> ContainmentDenial? {
    let lowered = line.lowercased()
    if !plan.hasNetwork, networkWords.contains(where: lowered.contains) { return .network }
    if !plan.hasNetwork, refusedWords.contains(where: lowered.contains),
      loopbackWords.contains(where: lowered.contains)
    {
      return .loopback
    }
    if fullWords.contains(where: lowered.contains) {
      return memoryFolder(in: line, plan).map { .memory($0) }
    }
    if linkWords.contains(where: lowered.contains) { return .link }
    if rightsWords.contains(where: lowered.contains) {
      return refusedChanges.contains(where: lowered.contains) ? .rights : nil
    }
    let isMissing = missingWords.contains(where: lowered.contains) || isShellsMissing(lowered)
    let isDenied = deniedWords.contains(where: lowered.contains)
    guard isMissing || isDenied else { return nil }
    for path in paths(in: line) {
      switch plan.sight(of: path) {
      case .hidden: return .hidden(path)
      case .none where isThere(path) || isPlace(path.parent, isThere): return .notShown(path)
      case .readOnly where isDenied && isThere(path.parent): return .readOnly(path)
      case .own(let folder) where isMissing && isThere(path): return .own(path, of: folder)
      case .none, .own, .readOnly, .writable: continue
      }
    }
    if let name = libraryName(in: line) { return .library(name) }
    return nil
  }

  /// `sh: 1: /data/tool: not found`, as dash says it of a command.
  private static func isShellsMissing(_ line: String) -> Bool {
    line.hasSuffix(": not found") && (line.hasPrefix("sh: ") || line.hasPrefix("/bin/sh: "))
  }

  private static func isPlace(_ folder: BytePath, _ isThere: (BytePath) -> Bool) -> Bool {
    folder != "/" && isThere(folder)
  }

  /// ENOENT's words only: "not found" says a web server, and anybody of anything.
  private static let missingWords = [
    "no such file", "enoent", "filenotfound", "nosuchfile", "cannot open shared", "os error 2)",
  ]
  private static let deniedWords = [
    "read-only file system", "permission denied", "erofs", "eacces",
  ]
  private static let networkWords = [
    "network is unreachable", "enetunreach", "temporary failure in name resolution", "eai_again",
    "could not resolve host", "couldn't resolve host", "name or service not known",
  ]

  private static let refusedWords = ["connection refused", "econnrefused", "couldn't connect to"]
  private static let loopbackWords = ["127.0.0.1", "localhost", "::1"]
  private static let fullWords = ["no space left on device", "enospc"]
  private static let linkWords = ["invalid cross-device link", "exdev"]
  private static let rightsWords = ["operation not permitted", "eperm"]
  private static let refusedChanges = ["chown", "ownership", "chgrp", "link", "mount", "mknod"]

  /// The folder in memory that a line names.
  private static func memoryFolder(in line: String, _ plan: Containment) -> BytePath? {
    for path in paths(in: line) {
      if case .own(let folder) = plan.sight(of: path), folder != "/proc" { return folder }
    }
    return nil
  }

  /// `libx.so.1: cannot open shared object file`, as ld.so(8) says it.
  private static func libraryName(in line: String) -> String? {
    guard line.contains("cannot open shared object file") else { return nil }
    let words = line.split { $0 == " " || $0 == ":" }
    return words.first { $0.contains(".so") && !$0.contains("/") }.map(String.init)
  }

  /// The absolute paths that a line names, quoted or not.
  private static func paths(in line: String) -> [BytePath] {
    var found: [BytePath] = []
    let characters = Array(line)
    var place = 0
    while place < characters.count {
      defer { place += 1 }
      guard characters[place] == "/" else { continue }
      let before = place > 0 ? characters[place - 1] : " "
      guard !before.isLetter, !before.isNumber, before != "/", before != "." else { continue }
      let closing = quotes[before]
      let rest = characters[place...]
      let end = rest.firstIndex { $0 == closing || closing == nil && ends.contains($0) }
      let path = BytePath(String(rest[..<(end ?? rest.endIndex)]))
      if path != "/" { found.append(path) }
      place += max(path.bytes.isEmpty ? 0 : (end ?? rest.endIndex) - place - 1, 0)
    }
    return found
  }

  private static let quotes: [Character: Character] = [
    "'": "'", "\"": "\"", "`": "'", "\u{2018}": "\u{2019}", "\u{201C}": "\u{201D}",
  ]
  private static let ends: Set<Character> = [" ", "\t", ":", ",", ";", ")", "]", "'", "\""]
}

extension ResultError {
  /// The same with what containment has to do with it, where the receiver's words tell.
  ///
  /// Of a failure that names its own remedy nothing is taken away.
  func explained(by denial: ContainmentDenial?) -> ResultError {
    guard let denial else { return self }
    var error = self
    error.message += "; \(denial.sentence)"
    error.remedy = remedy ?? denial.remedy
    return error
  }
}
