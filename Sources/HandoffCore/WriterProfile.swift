/// What is known of a program that writes into drop folders: the names that it uses while it is not
/// finished, and habits that its exports need more patience for.
///
/// Patterns are shell patterns for one name, matched without regard to ASCII case.
package struct WriterProfile: Hashable, Sendable {
  /// As `[writer.NAME]` has it.
  package var name: String
  /// For people.
  package var title: String
  /// Names that are no exports: of unfinished files, and of files that it keeps beside them.
  package var temporary: [String] = []
  /// Folders that are not looked into.
  package var folders: [String] = []
  /// While a file with one of these added to its name lies beside an export, that is not finished.
  package var unfinished: [String] = []
  /// What it adds to a stem for a remux into the same container.
  package var remuxed: [String] = []
  /// The exports that ``quiet`` is for.
  package var names: [String] = []
  /// The least quiet of its exports, for a writer that closes and opens them again.
  package var quiet: Duration?

  package init(
    _ name: String,
    title: String? = nil,
    temporary: [String] = [],
    folders: [String] = []
  ) {
    self.name = name
    self.title = title ?? name
    self.temporary = temporary
    self.folders = folders
  }
}

extension [WriterProfile] {
  /// These, with those of the same name in the place of the old ones and the others first.
  package func replaced(by others: [WriterProfile]) -> [WriterProfile] {
    let replacing = Dictionary(others.map { ($0.name, $0) }) { first, _ in first }
    let added = others.filter { other in !contains { $0.name == other.name } }
    return added + map { replacing[$0.name] ?? $0 }
  }
}
