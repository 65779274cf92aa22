/// The ledger's schema, as numbered steps.
enum Schema {
  /// In order; the file's `user_version` counts those that were applied.
  static let migrations = [
    v001, v002, v003, v004, v005, v006, v007, v008, v009, v010, v011, v012, v013, v014,
  ]

  /// The first step that knows what people allow.
  static let allowancesVersion = 7
  /// The first step that knows pauses and places of quotas.
  static let waitsVersion = 12
  /// The first step that knows runs of events that were dropped.
  static let pruningVersion = 13

  /// Marks a database as a ledger: `HOff`.
  static let applicationID: Int32 = 0x484F_6666
}
