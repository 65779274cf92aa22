import HandoffConfig
import HandoffCore
import HandoffProtocol
import Ledger
import Paths

extension ClaimedHandoff {
  /// The request in the version that was agreed on with its destination.
  ///
  /// - Throws: `version_incompatible` for what that version cannot carry.
  func request(
    by agreement: VersionAgreement,
    _ assets: [GrantedAsset]
  ) throws(ResultError) -> HandoffRequest {
    try request.carried(by: agreement, assets.map(\.asset))
  }
}

extension HandoffRequest {
  /// The request in the version that was agreed on, for the assets that it names.
  func carried(
    by agreement: VersionAgreement,
    _ assets: [Asset]
  ) throws(ResultError) -> HandoffRequest {
    // The granted path ends with the export's name, so that a title that only repeats it is not lost.
    let name = assets.count == 1 ? assets.first?.exportName.stem : nil
    return try carried(by: agreement, defaultTitle: name.map(FolderRoute.defaultTitle))
  }
}

extension DestinationSettings {
  /// The version for a receiver that nobody can ask: the highest that is configured.
  var configuredAgreement: VersionAgreement {
    get throws(ResultError) {
      try VersionAgreement(configured: protocolVersions, receiver: nil)
    }
  }
}
