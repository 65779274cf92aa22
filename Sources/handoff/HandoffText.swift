import HandoffControl
import HandoffCore
import HandoffProtocol
import Paths

/// One handoff for people: where it stands in a sentence, then a line for each thing that there is to know,
/// its receipt among them.
struct HandoffText {
  private let report: HandoffReport

  init(_ report: HandoffReport) {
    self.report = report
  }

  /// Its lines, with nothing in them that would drive a terminal.
  var lines: [String] {
    let rows = (words + times + receipt + later).filter { !$0.value.isEmpty }
    let width = rows.map(\.label.count).max() ?? 0
    let head =
      report.explanation ?? "\(report.id) to \(report.destination): \(report.status.rawValue)"
    return [BytePath(head).displayText]
      + rows.map { row in
        let gap = String(repeating: " ", count: width - row.label.count)
        return BytePath("  \(row.label)\(gap)  ").displayText + BytePath(row.value).displayText
      }
  }

  /// Why it did not succeed, or where what was done is; nil where nothing is known of either.
  static func end(of report: HandoffReport) -> String? {
    if let error = report.error { return "\(error.code): \(error.message)" }
    return places.lazy.compactMap { report.output[$0]?.text }.first
  }

  /// Members of a receipt that say where something is, the best first.
  private static let places = ["url", "location", "path", "page"]

  private typealias Row = (label: String, value: String)

  private var words: [Row] {
    var rows: [Row] = [("title", report.title ?? "")]
    rows += report.localIdentifiers.map { ("asset", $0.text) }
    rows.append(
      ("status", report.status.rawValue + (report.syncPublish ? ", to be published" : ""))
    )
    if let error = report.error {
      rows.append(("error", "\(error.code): \(error.message)"))
      rows.append(("left behind", error.effect == .none ? "nothing" : "nobody knows"))
      rows.append(("what to do", error.remedy ?? ""))
    }
    rows.append(("at the destination", report.userNeed ?? ""))
    rows.append(
      ("origin", report.origin == .unverified ? "unverified: only its token is known" : "")
    )
    return rows
  }

  private var times: [Row] {
    [
      ("made", report.createdAt.rfc3339),
      ("publish at", report.publishAtLocal ?? report.publishAt?.rfc3339 ?? ""),
      ("approved", report.approval?.approvedAt?.rfc3339 ?? ""),
      ("sent", report.submittedAt.map { "\($0.rfc3339) (attempt \(report.attempts))" } ?? ""),
      ("cancelling asked", report.cancelRequestedAt?.rfc3339 ?? ""),
      ("ended", report.finishedAt?.rfc3339 ?? ""),
      ("expires", report.finishedAt == nil ? report.expiresAt?.rfc3339 ?? "" : ""),
    ]
  }

  /// Where what was done is comes first; members that only this receiver knows keep its names.
  private var receipt: [Row] {
    var members = report.output
    var rows: [Row] = []
    for name in Self.places {
      guard let text = members.removeValue(forKey: name)?.text else { continue }
      if !rows.contains(where: { $0.value == text }) { rows.append((name, text)) }
    }
    if let checksum = members["checksum"], let algorithm = checksum["algorithm"]?.text,
      let value = checksum["value"]?.text
    {
      members["checksum"] = nil
      if members[algorithm]?.text == value { members[algorithm] = nil }
      let method = checksum["method"]?.text.map { " (\($0))" } ?? ""
      rows.append((algorithm, value + method))
    }
    if let size = members.removeValue(forKey: "size")?.integer {
      rows.append(("size", "\(size) bytes"))
    }
    return rows + Self.rows(of: .object(members), "")
  }

  private var later: [Row] {
    var rows: [Row] = []
    if let verification = report.verification {
      let detail = verification.detail.map { ": \($0)" } ?? ""
      rows.append(
        (
          "looked at again",
          "\(verification.standing.rawValue), \(verification.at.rfc3339)\(detail)"
        )
      )
    }
    for late in report.lateResultList ?? [] {
      let error = late.errorMessage.map { ": \($0)" } ?? ""
      rows.append(("came too late", "\(late.result), \(late.at.rfc3339)\(error)"))
      rows += Self.rows(of: .object(late.output), "too late: ")
    }
    for notice in report.notices ?? [] {
      let error = notice.error.map { ": \($0)" } ?? ""
      rows.append(
        ("notice \(notice.id)", "to \(notice.callbackID): \(notice.state.rawValue)\(error)")
      )
    }
    rows.append(("key", report.key ?? ""))
    return rows
  }

  /// Each member on its own line, those of members by their names together.
  private static func rows(of value: JSONValue, _ name: String) -> [Row] {
    switch value {
    case .object(let members):
      members.sorted { $0.key < $1.key }.flatMap { key, value in
        rows(of: value, name.isEmpty || name.hasSuffix(" ") ? name + key : "\(name).\(key)")
      }
    case .array(let elements):
      elements.enumerated().flatMap {
        rows(of: $1, elements.count == 1 ? name : "\(name).\($0 + 1)")
      }
    case .null: []
    case .bool(let flag): [(name, flag ? "yes" : "no")]
    case .integer(let number): [(name, String(number))]
    case .number(let number): [(name, String(number))]
    case .string(let text): [(name, text)]
    }
  }
}
