import HandoffCore
import HandoffProtocol
import Paths

extension WriterProfile {
  /// Reads `[writer.NAME]`.
  init(name: String, from reader: TableReader) {
    // A built-in writer keeps its title.
    self.init(name, title: Self.builtIn.first { $0.name == name }?.title)
    temporary = Self.patterns("temporary", of: reader)
    folders = Self.patterns("folders", of: reader)
    unfinished = Self.endings("unfinished", of: reader)
    remuxed = Self.endings("remuxed", of: reader)
    names = Self.patterns("names", of: reader)
    quiet = reader.duration("quiet", in: .zero ... .seconds(86_400))
    if quiet != nil, names.isEmpty {
      reader.report("quiet", "whose exports wait for it? names has to say so")
    }
    if quiet == nil, !names.isEmpty, !reader.has("quiet") {
      reader.report("names", "what do these wait for? quiet has to say so")
    }
    reader.finish()
  }

  private static func patterns(_ key: String, of reader: TableReader) -> [String] {
    let patterns = reader.list(key) ?? []
    for (index, pattern) in patterns.enumerated() {
      let path = "\(reader.name(key))[\(index)]"
      if pattern.contains("/") {
        reader.context.report("\(path): a pattern is for one name and has no /", at: path)
      } else if pattern.allSatisfy({ $0 == "*" }) {
        reader.context.report("\(path): \(pattern.quoted) would fit every name", at: path)
      }
    }
    return patterns
  }

  private static func endings(_ key: String, of reader: TableReader) -> [String] {
    let endings = reader.list(key) ?? []
    for (index, ending) in endings.enumerated() where ending.contains("/") {
      let path = "\(reader.name(key))[\(index)]"
      reader.context.report("\(path): what is added to a name has no /", at: path)
    }
    return endings
  }
}
