extension HandoffRequest {
  /// The same request in the version that was agreed on.
  ///
  /// Nothing is dropped in silence, with one exception: a title that only is the default is left out at
  /// version 1, because the path that the receiver is granted ends with it.
  ///
  /// - Parameters:
  ///   - agreement: the version, and both sides' versions for the error.
  ///   - defaultTitle: the stem of the export's own file name.
  /// - Returns: the request as it is to be sent.
  /// - Throws: `version_incompatible` naming the member that the version does not have, and both sides'
  ///   versions.
  public func carried(
    by agreement: VersionAgreement,
    defaultTitle: String? = nil
  ) throws(ResultError) -> HandoffRequest {
    var request = self
    request.protocolVersion = agreement.version
    if agreement.version == 1, let title, title == defaultTitle { request.title = nil }
    if let member = request.memberMissing(in: agreement.version) {
      throw ResultError(
        .versionIncompatible,
        "protocol version \(agreement.version) cannot carry \(member): \(agreement.sides)",
        effect: .none,
        remedy: "Hand it off without \(member), or install a receiver that reads a newer version."
      )
    }
    return request
  }

  /// The request as it was written in a version that has carried it before.
  ///
  /// - Parameter version: what ``carried(by:defaultTitle:)`` gave then.
  /// - Returns: the request as it was sent.
  public func written(in version: Int) -> HandoffRequest {
    var request = self
    request.protocolVersion = version
    // Only a default title was left out; any other would have been refused.
    if version == 1 { request.title = nil }
    return request
  }

  /// The first member that holds something and that a version does not have, or nil.
  func memberMissing(in version: Int) -> String? {
    if version < 2, localIdentifiers.count != 1 {
      return "\(localIdentifiers.count) local_identifiers"
    }
    if version < 2, title != nil { return "title" }
    if version < 3, syncPublish { return "sync_publish" }
    if version < 3, callbackID != nil { return "callback_id" }
    let members = Self.members(of: version)
    return mustUnderstand.first { !members.contains($0) }.map { "must_understand \($0)" }
  }
}
