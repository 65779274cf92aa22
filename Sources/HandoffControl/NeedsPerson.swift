/// Something that only a person can carry on, as `status` lists it.
package enum NeedsPerson: Codable, Sendable {
  case handoff(HandoffReport)
  /// Given up.
  case notice(NoticeReport)

  /// A notice has a kind, and a handoff none.
  private enum CodingKeys: String, CodingKey {
    case kind
  }

  package init(from decoder: any Decoder) throws {
    let isNotice = try decoder.container(keyedBy: CodingKeys.self).contains(.kind)
    self =
      isNotice
      ? .notice(try NoticeReport(from: decoder)) : .handoff(try HandoffReport(from: decoder))
  }

  package func encode(to encoder: any Encoder) throws {
    switch self {
    case .handoff(let report): try report.encode(to: encoder)
    case .notice(let report): try report.encode(to: encoder)
    }
  }
}
