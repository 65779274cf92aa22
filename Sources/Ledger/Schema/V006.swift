extension Schema {
  /// What a rebuild keeps from being handed off, until a person says so.
  static let v006 = """
    -- Nobody knows whether these were handed off under the former ledger: what is ordered of them is held.
    CREATE TABLE held_assets (
      asset INTEGER PRIMARY KEY REFERENCES assets (id),
      held_at INTEGER NOT NULL
    ) STRICT;

    -- Orders as they would have been made; their sidecars are used up.
    CREATE TABLE held_orders (
      id INTEGER PRIMARY KEY,
      path BLOB NOT NULL,
      destination TEXT NOT NULL,
      local_identifiers TEXT NOT NULL,
      title TEXT,
      sync_publish INTEGER NOT NULL CHECK (sync_publish = 0 OR sync_publish = 1),
      callback_id TEXT,
      metadata TEXT,
      publish_at INTEGER,
      held_at INTEGER NOT NULL,
      UNIQUE (local_identifiers, destination)
    ) STRICT;
    """
}
