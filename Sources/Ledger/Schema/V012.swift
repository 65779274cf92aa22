extension Schema {
  /// What a pending handoff waits for: a person's approval, a pause, a quota; and which go first.
  ///
  /// It needs nothing of the steps between it and the ninth.
  static let v012 = """
    -- 0: new exports, and what a person sends; 1: back-fill, which gives way to them.
    ALTER TABLE handoffs ADD COLUMN priority INTEGER NOT NULL DEFAULT 0
      CHECK (priority = 0 OR priority = 1);
    DROP INDEX handoffs_due;
    CREATE INDEX handoffs_due ON handoffs (destination, priority, due_at, id)
      WHERE status = 'pending';

    -- What is in force at destinations, as the broker that runs, or ran last, was configured.
    CREATE TABLE destination_rules (
      destination TEXT PRIMARY KEY,
      approval INTEGER NOT NULL CHECK (approval = 0 OR approval = 1),
      quota_count INTEGER CHECK (quota_count > 0),
      quota_ms INTEGER CHECK (quota_ms > 0),
      rendition TEXT,
      CHECK ((quota_count IS NULL) = (quota_ms IS NULL))
    ) STRICT, WITHOUT ROWID;

    -- Destinations that a person has paused; who, as far as the kernel told.
    CREATE TABLE destination_pauses (
      destination TEXT PRIMARY KEY,
      paused_at INTEGER NOT NULL,
      paused_by INTEGER
    ) STRICT, WITHOUT ROWID;

    -- The places of a quota that are taken: by a claim, and by its submission from that moment on.
    CREATE TABLE quota_places (
      handoff INTEGER NOT NULL,
      attempt INTEGER NOT NULL,
      destination TEXT NOT NULL,
      at INTEGER NOT NULL,
      PRIMARY KEY (handoff, attempt)
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX quota_places_by_time ON quota_places (destination, at);

    -- What a person has approved: the digest of all that the receiver gets to see. `voided_at` says
    -- when something else was found in its place.
    CREATE TABLE approvals (
      handoff INTEGER PRIMARY KEY REFERENCES handoffs (id) ON DELETE CASCADE,
      digest BLOB NOT NULL CHECK (length(digest) = 32),
      approved_at INTEGER NOT NULL,
      approved_by INTEGER,
      voided_at INTEGER
    ) STRICT;

    -- A pause is of the destination, and no row of a handoff says it.
    DROP VIEW pending;
    CREATE VIEW pending AS
      SELECT 'h' || id AS handoff_id, destination, status,
        CASE WHEN status <> 'pending' OR waiting_reason = 'approval' OR waiting_reason = 'after'
            OR waiting_reason = 'superseded' THEN waiting_reason
          WHEN destination IN (SELECT destination FROM destination_pauses)
            OR destination IN (SELECT destination FROM destination_stops) THEN 'paused'
          ELSE waiting_reason END AS waiting_reason,
        waiting_until, due_at, created_at, attempts,
        strftime('%Y-%m-%dT%H:%M:%fZ', created_at / 1000.0, 'unixepoch') AS created,
        strftime('%Y-%m-%dT%H:%M:%fZ', due_at / 1000.0, 'unixepoch') AS due
      FROM handoffs WHERE status IN ('pending', 'leased') ORDER BY id;
    """
}
