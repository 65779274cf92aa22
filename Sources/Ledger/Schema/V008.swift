extension Schema {
  /// What stays stopped over a restart.
  static let v008 = """
    -- Destinations that want nothing any more, until their address changes or a person says otherwise.
    CREATE TABLE destination_stops (
      destination TEXT PRIMARY KEY,
      address TEXT NOT NULL,
      reason TEXT NOT NULL,
      stopped_at INTEGER NOT NULL
    ) STRICT;
    """
}
