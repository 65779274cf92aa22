/// What the kit found out about one plugin.
package struct ConformanceReport: Sendable {
  /// One check.
  package struct Entry: Sendable {
    /// Its name.
    package let name: CheckName
    /// How it went.
    package let verdict: Verdict
  }

  /// In the order in which they were made.
  package private(set) var entries: [Entry] = []

  mutating func add(_ name: CheckName, _ verdict: Verdict) {
    entries.append(Entry(name: name, verdict: verdict))
  }

  /// Those that went as expected.
  package var passed: [CheckName] {
    entries.compactMap {
      guard case .passed = $0.verdict else { return nil }
      return $0.name
    }
  }

  /// Those that did not, with what was wrong.
  package var failures: [(name: CheckName, finding: Finding)] {
    entries.compactMap {
      guard case .failed(let finding) = $0.verdict else { return nil }
      return ($0.name, finding)
    }
  }

  /// At least one handoff was made, whatever came of it.
  package var hasHandoff: Bool {
    entries.contains { entry in
      if case .skipped = entry.verdict { return false }
      return CheckName.handoffs.contains(entry.name)
    }
  }

  /// Those that were made: all but the skipped ones.
  package var made: Int { passed.count + failures.count }

  /// The last lines for people.
  package var summary: [String] {
    let skipped = entries.count - made
    var counted = "\(passed.count) of \(made) checks passed"
    if failures.isEmpty, !hasHandoff { counted += "; no handoff was tried" }
    return skipped > 0 ? ["\(skipped) skipped", counted] : [counted]
  }
}

extension ConformanceReport.Entry {
  /// The entry for people: a line, and of a failure what to mend.
  package var lines: [String] {
    let name = name.rawValue
    let gap = String(repeating: " ", count: max(1, 22 - name.count))
    switch verdict {
    case .passed: return ["ok    \(name)\(gap)\(self.name.expectation)"]
    case .skipped(let reason): return ["skip  \(name)\(gap)\(reason)"]
    case .failed(let finding):
      let exchange = finding.exchange.map { "        | \($0)" }
      return [
        "FAIL  \(name)",
        "        expected: \(self.name.expectation)",
        "        came:     \(finding.got)",
        "        mend:     \(finding.mend)",
      ] + exchange
    }
  }
}

extension ConformanceReport: Encodable {
  private enum CodingKeys: String, CodingKey {
    case passed
    case made
    case hasHandoff = "handoff_tried"
    case checks
  }

  /// Encodes the counts and all checks.
  package func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(passed.count, forKey: .passed)
    try container.encode(made, forKey: .made)
    try container.encode(hasHandoff, forKey: .hasHandoff)
    try container.encode(entries, forKey: .checks)
  }
}

extension ConformanceReport.Entry: Encodable {
  private enum CodingKeys: String, CodingKey {
    case name
    case verdict
    case expected
    case reason
    case came
    case mend
    case exchange
  }

  /// Encodes the check with what its verdict has.
  package func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(name.rawValue, forKey: .name)
    try container.encode(name.expectation, forKey: .expected)
    switch verdict {
    case .passed: try container.encode("passed", forKey: .verdict)
    case .skipped(let reason):
      try container.encode("skipped", forKey: .verdict)
      try container.encode(reason, forKey: .reason)
    case .failed(let finding):
      try container.encode("failed", forKey: .verdict)
      try container.encode(finding.got, forKey: .came)
      try container.encode(finding.mend, forKey: .mend)
      try container.encode(finding.exchange, forKey: .exchange)
    }
  }
}
