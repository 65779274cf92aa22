extension Schema {
  /// What keeps the ledger bounded and its history provable: runs of events that were dropped, what is
  /// remembered for good of handoffs that were dropped, and who was in flight when something crashed.
  ///
  /// It needs nothing of the other steps after the first.
  static let v013 = """
    -- A run of events that was dropped: the code before it, the code after it, and a keyed digest of all
    -- four, so that nobody without the key can invent one. Runs that touch become one.
    CREATE TABLE pruned_events (
      first INTEGER PRIMARY KEY CHECK (first >= 1),
      last INTEGER NOT NULL CHECK (last >= first),
      before BLOB NOT NULL CHECK (length(before) = 32),
      after BLOB NOT NULL CHECK (length(after) = 32),
      mac BLOB NOT NULL CHECK (length(mac) = 32)
    ) STRICT;
    DROP TRIGGER events_kept;
    CREATE TRIGGER events_kept BEFORE DELETE ON events
      WHEN ifnull ((SELECT last FROM pruned_events WHERE first <= OLD.seq
        ORDER BY first DESC LIMIT 1), 0) < OLD.seq
      BEGIN SELECT RAISE (ABORT, 'events are only deleted as pruned runs'); END;

    -- Of handoffs that were dropped, what keeps the same from being handed off twice, and what others are
    -- ordered after: the one that tells most of each asset and destination. It stays as long as the asset
    -- or its tombstone.
    CREATE TABLE past_handoffs (
      asset INTEGER NOT NULL REFERENCES assets (id),
      destination TEXT NOT NULL,
      handoff INTEGER NOT NULL,
      status TEXT NOT NULL CHECK (status = 'succeeded' OR status = 'cancelled'
        OR status = 'refused' OR status = 'failed' OR status = 'expired'),
      finished_at INTEGER NOT NULL,
      was_automatic INTEGER NOT NULL CHECK (was_automatic = 0 OR was_automatic = 1),
      -- It has succeeded, or may have.
      stands INTEGER NOT NULL CHECK (stands = 0 OR stands = 1),
      PRIMARY KEY (asset, destination)
    ) STRICT, WITHOUT ROWID;

    -- Handoffs that were in flight when the broker or their receiver crashed, and how often.
    CREATE TABLE suspects (
      handoff INTEGER PRIMARY KEY REFERENCES handoffs (id) ON DELETE CASCADE,
      crashes INTEGER NOT NULL CHECK (crashes >= 1),
      last_at INTEGER NOT NULL,
      -- When it was claimed last as a suspect.
      tried_at INTEGER,
      -- It waits until another suspect has had its turn.
      is_held INTEGER NOT NULL DEFAULT 0 CHECK (is_held = 0 OR is_held = 1),
      -- It is tried no more until a person says so.
      given_up_at INTEGER
    ) STRICT;
    """
}
