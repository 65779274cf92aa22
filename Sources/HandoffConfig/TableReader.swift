import Paths

/// Reads the keys of one table, reporting what is wrong with each, and at the end those it was not
/// asked for.
///
/// A wrong value leaves the default in place, so that everything else is still looked at.
struct TableReader {
  let context: DecodingContext
  let path: String
  let shape: String
  let members: [TOMLMember]

  /// Reads nothing yet; a table that the file does not have has no members.
  init(_ members: [TOMLMember], path: String, shape: String, context: DecodingContext) {
    self.context = context
    self.path = path
    self.shape = shape
    self.members = members
    for member in members {
      context.note(member.place, of: name(member.key))
    }
  }

  /// The path of a key in this table.
  func name(_ key: String) -> String { path.isEmpty ? key : "\(path).\(key)" }

  func has(_ key: String) -> Bool { members.contains { $0.key == key } }

  func report(_ key: String, _ text: String) {
    context.report("\(name(key)): \(text)", at: name(key))
  }

  /// The value of a key, which is known from now on.
  func node(_ key: String) -> TOMLNode? {
    context.note(key, of: shape)
    guard let member = members.first(where: { $0.key == key }) else { return nil }
    context.note(member.node.place, of: name(key))
    return member.node
  }

  /// Reports the keys that nobody asked for.
  func finish() {
    let known = context.known[shape] ?? []
    for member in members where !known.contains(member.key) {
      let path = name(BytePath(member.key).displayText)
      let nearest = NearestKey.of(member.key, among: known)
      let hint = nearest.map { "; did you mean \($0)?" } ?? ""
      context.report("unknown key \(path)\(hint)", at: member.place)
    }
  }

  /// The tables of a list of tables; one table alone is not a list.
  func tables(_ key: String) -> [TableReader] {
    guard let node = node(key) else { return [] }
    guard case .array(let elements) = node.content else {
      report(key, "a list of tables is expected, [[\(name(key))]], not \(node.kind)")
      return []
    }
    return elements.enumerated().compactMap { index, element in
      let path = "\(name(key))[\(index)]"
      context.note(element.place, of: path)
      guard case .table(let members) = element.content else {
        context.report("\(path): a table is expected, not \(element.kind)", at: path)
        return nil
      }
      return TableReader(members, path: path, shape: name(key), context: context)
    }
  }

  /// The table of a key; one without keys if the file does not have it.
  func table(_ key: String) -> TableReader {
    TableReader(
      tableMembers(key),
      path: name(key),
      shape: shape.isEmpty ? key : "\(shape).\(key)",
      context: context
    )
  }

  /// The tables that a table holds by names of the file's choice, in the file's order.
  func namedTables(_ key: String) -> [(name: String, reader: TableReader)] {
    tableMembers(key).compactMap { member in
      let path = "\(name(key)).\(member.key)"
      context.note(member.place, of: path)
      guard case .table(let members) = member.node.content else {
        let shown = "\(name(key)).\(BytePath(member.key).displayText)"
        context.report("\(shown): a table is expected, not \(member.node.kind)", at: member.place)
        return nil
      }
      let shape = "\(name(key)).*"
      return (member.key, TableReader(members, path: path, shape: shape, context: context))
    }
  }

  /// The members of a table whose keys are not ours to know.
  func tableMembers(_ key: String) -> [TOMLMember] {
    guard let node = node(key) else { return [] }
    guard case .table(let members) = node.content else {
      report(key, "a table is expected, not \(node.kind)")
      return []
    }
    return members
  }
}
