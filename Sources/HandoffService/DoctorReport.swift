package import HandoffControl
package import HandoffProtocol

/// What `handoff doctor` found, as `--json` shows it.
package struct DoctorReport: Codable, Sendable {
  /// How one thing stands.
  package enum Standing: String, Codable, Sendable {
    case ok
    /// It works, but less well than it could, or it could not be looked at.
    case warning
    /// Something that is configured cannot work.
    case problem
  }

  /// One thing that was looked at.
  package struct Line: Codable, Sendable {
    /// The name of the check.
    package var check = ""
    /// Which destination it is about, where it is about one; the text begins with its name too.
    package var destination: DestinationName?
    package let standing: Standing
    /// One sentence.
    package var text: String
    /// What to do about it; null where nothing is to be done.
    @OrNull package private(set) var remedy: String?

    private init(_ standing: Standing, _ text: String, _ remedy: String?) {
      self.standing = standing
      self.text = text
      self.remedy = remedy
    }

    static func ok(_ text: String) -> Line { Line(.ok, text, nil) }

    static func warning(_ text: String, mend remedy: String) -> Line {
      Line(.warning, text, remedy)
    }

    static func problem(_ text: String, mend remedy: String) -> Line {
      Line(.problem, text, remedy)
    }
  }

  package let checks: [Line]

  /// Something that is configured cannot work.
  package var hasProblem: Bool { checks.contains { $0.standing == .problem } }
}
