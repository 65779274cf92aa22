extension Schema {
  /// The first schema.
  ///
  /// Applied ones are never edited.
  ///
  /// The checks spell out `OR`: SQLite makes a temporary table for each longer list after `IN`, every
  /// time that a row is checked. Times are integer milliseconds UTC; those of files are nanoseconds. Paths are blobs, since they
  /// are bytes.
  static let v001 = """
    CREATE TABLE meta (
      name TEXT PRIMARY KEY,
      value ANY NOT NULL
    ) STRICT, WITHOUT ROWID;

    CREATE TABLE assets (
      id INTEGER PRIMARY KEY AUTOINCREMENT,
      identifier TEXT NOT NULL UNIQUE CHECK (length(identifier) = 43),
      digest BLOB NOT NULL CHECK (length(digest) = 32),
      size INTEGER NOT NULL CHECK (size >= 0),
      media_type TEXT NOT NULL DEFAULT 'video' CHECK (media_type = 'video'),
      container TEXT NOT NULL,
      video_codec TEXT NOT NULL,
      width INTEGER NOT NULL,
      height INTEGER NOT NULL,
      rotation INTEGER NOT NULL CHECK (rotation = 0 OR rotation = 90 OR rotation = 180 OR rotation = 270),
      duration_s REAL NOT NULL,
      audio_tracks INTEGER NOT NULL,
      imported_at INTEGER NOT NULL,
      status TEXT NOT NULL CHECK (status = 'present' OR status = 'deleted'
        OR status = 'damaged' OR status = 'unavailable'),
      supersedes INTEGER REFERENCES assets (id) CHECK (supersedes <> id),
      superseded_by INTEGER REFERENCES assets (id) CHECK (superseded_by <> id)
    ) STRICT;

    -- Each place where an asset's content was seen; `latest` marks what a path holds now.
    CREATE TABLE sightings (
      id INTEGER PRIMARY KEY,
      path BLOB NOT NULL,
      folder BLOB NOT NULL,
      device INTEGER NOT NULL,
      inode INTEGER NOT NULL,
      size INTEGER NOT NULL,
      mtime_ns INTEGER NOT NULL,
      ctime_ns INTEGER NOT NULL,
      seen_at INTEGER NOT NULL,
      asset INTEGER NOT NULL REFERENCES assets (id),
      latest INTEGER NOT NULL CHECK (latest = 0 OR latest = 1),
      UNIQUE (asset, path)
    ) STRICT;
    CREATE UNIQUE INDEX sightings_latest ON sightings (path) WHERE latest = 1;

    CREATE TABLE sidecars (
      path BLOB NOT NULL,
      device INTEGER NOT NULL,
      inode INTEGER NOT NULL,
      size INTEGER NOT NULL,
      mtime_ns INTEGER NOT NULL,
      ctime_ns INTEGER NOT NULL,
      asset INTEGER NOT NULL REFERENCES assets (id),
      consumed_at INTEGER NOT NULL,
      PRIMARY KEY (path, device, inode, size, mtime_ns, ctime_ns)
    ) STRICT, WITHOUT ROWID;

    -- A handoff is due at `due_at`; where that is null it waits for something without a time.
    -- `local_identifiers` says once more, separated by spaces, what handoff_assets says: a request
    -- never changes, and reading it must not cost a join. `is_superseded` says that one of its assets
    -- was superseded while it was open, in a folder that holds such handoffs.
    CREATE TABLE handoffs (
      id INTEGER PRIMARY KEY AUTOINCREMENT,
      key TEXT UNIQUE,
      body_digest BLOB,
      destination TEXT NOT NULL,
      local_identifiers TEXT NOT NULL,
      status TEXT NOT NULL CHECK (status = 'pending' OR status = 'leased'
        OR status = 'submitted' OR status = 'accepted' OR status = 'outcome_unknown' OR status = 'needs_user' OR status = 'succeeded'
        OR status = 'cancelled' OR status = 'refused' OR status = 'failed' OR status = 'expired'),
      waiting_reason TEXT CHECK (waiting_reason = 'approval' OR waiting_reason = 'after'
        OR waiting_reason = 'publish_at' OR waiting_reason = 'quota' OR waiting_reason = 'paused'
        OR waiting_reason = 'circuit_open' OR waiting_reason = 'backoff'
        OR waiting_reason = 'slot' OR waiting_reason = 'superseded'
        OR waiting_reason = 'library_unavailable'),
      waiting_until INTEGER,
      due_at INTEGER,
      title TEXT,
      sync_publish INTEGER NOT NULL CHECK (sync_publish = 0 OR sync_publish = 1),
      callback_id TEXT,
      metadata TEXT,
      protocol_version INTEGER NOT NULL,
      is_automatic INTEGER NOT NULL CHECK (is_automatic = 0 OR is_automatic = 1),
      automatic_asset INTEGER REFERENCES assets (id),
      created_at INTEGER NOT NULL,
      publish_at INTEGER,
      expires_at INTEGER,
      ceiling_at INTEGER,
      first_attempt_at INTEGER,
      submitted_at INTEGER,
      finished_at INTEGER,
      attempts INTEGER NOT NULL DEFAULT 0,
      failures INTEGER NOT NULL DEFAULT 0,
      lease_id INTEGER NOT NULL DEFAULT 0,
      lease_until INTEGER,
      result TEXT CHECK (result = 'success' OR result = 'cancelled' OR result = 'failure'),
      output TEXT,
      error_code TEXT,
      error_message TEXT,
      error_effect TEXT CHECK (error_effect = 'none' OR error_effect = 'applied' OR error_effect = 'unknown'),
      error_retry TEXT CHECK (error_retry = 'never' OR error_retry = 'later' OR error_retry = 'after_fix'),
      error_retry_after_s INTEGER,
      error_remedy TEXT,
      error_identifier TEXT,
      error_side TEXT CHECK (error_side = 'sender' OR error_side = 'receiver' OR error_side = 'broker'),
      is_superseded INTEGER NOT NULL DEFAULT 0 CHECK (is_superseded = 0 OR is_superseded = 1),
      late_results INTEGER NOT NULL DEFAULT 0,
      is_verified INTEGER NOT NULL DEFAULT 1 CHECK (is_verified = 0 OR is_verified = 1),
      token_random BLOB NOT NULL CHECK (length(token_random) = 24),
      token_digest BLOB NOT NULL CHECK (length(token_digest) = 32),
      consumed_at INTEGER,
      CHECK (status = 'pending' OR waiting_reason IS NULL),
      CHECK (waiting_reason IS NOT NULL OR waiting_until IS NULL),
      CHECK (status <> 'leased' OR lease_until IS NOT NULL),
      CHECK (submitted_at IS NOT NULL OR (status <> 'submitted' AND status <> 'accepted')),
      CHECK (status <> 'succeeded' OR result IS 'success'),
      CHECK (status <> 'cancelled' OR result IS 'cancelled'),
      CHECK (result IS 'failure' OR (status <> 'refused' AND status <> 'failed')),
      CHECK ((finished_at IS NOT NULL) = (status = 'succeeded' OR status = 'cancelled'
        OR status = 'refused' OR status = 'failed' OR status = 'expired')),
      CHECK (consumed_at IS NULL OR finished_at IS NOT NULL),
      CHECK (result IS NULL OR finished_at IS NOT NULL),
      CHECK (error_code IS NULL OR (error_effect IS NOT NULL AND error_retry IS NOT NULL))
    ) STRICT;
    CREATE INDEX handoffs_due ON handoffs (destination, due_at, id) WHERE status = 'pending';
    CREATE INDEX handoffs_open ON handoffs (destination, id)
      WHERE finished_at IS NULL AND status <> 'pending';
    CREATE INDEX handoffs_expiry ON handoffs (expires_at)
      WHERE expires_at IS NOT NULL AND finished_at IS NULL;
    CREATE INDEX handoffs_ceiling ON handoffs (ceiling_at)
      WHERE ceiling_at IS NOT NULL AND finished_at IS NULL;
    CREATE UNIQUE INDEX handoffs_automatic ON handoffs (automatic_asset, destination)
      WHERE automatic_asset IS NOT NULL;

    -- What the transition table of the code says of final states, said again.
    CREATE TRIGGER handoffs_final BEFORE UPDATE OF status ON handoffs
      WHEN OLD.finished_at IS NOT NULL AND NEW.status <> OLD.status
        AND NOT (OLD.status = 'failed' AND NEW.status = 'pending')
        AND NOT (OLD.status = 'expired' AND NEW.status = 'succeeded')
      BEGIN SELECT RAISE (ABORT, 'a final status never changes'); END;
    CREATE TRIGGER handoffs_kept BEFORE DELETE ON handoffs
      WHEN OLD.finished_at IS NULL
      BEGIN SELECT RAISE (ABORT, 'an open handoff cannot be deleted'); END;

    CREATE TABLE handoff_assets (
      handoff INTEGER NOT NULL REFERENCES handoffs (id) ON DELETE CASCADE,
      position INTEGER NOT NULL CHECK (position >= 0),
      asset INTEGER NOT NULL REFERENCES assets (id),
      PRIMARY KEY (handoff, position),
      UNIQUE (asset, handoff)
    ) STRICT, WITHOUT ROWID;

    -- Every result that came, also those that changed nothing.
    CREATE TABLE received_results (
      id INTEGER PRIMARY KEY,
      handoff INTEGER REFERENCES handoffs (id) ON DELETE CASCADE,
      destination TEXT NOT NULL,
      received_at INTEGER NOT NULL,
      result TEXT NOT NULL CHECK (result = 'success' OR result = 'cancelled' OR result = 'failure'),
      output TEXT,
      error_code TEXT,
      error_message TEXT,
      error_effect TEXT CHECK (error_effect = 'none' OR error_effect = 'applied' OR error_effect = 'unknown'),
      verdict TEXT NOT NULL CHECK (verdict = 'applied' OR verdict = 'retried' OR verdict = 'already_consumed'
        OR verdict = 'unknown_state' OR verdict = 'wrong_destination' OR verdict = 'late')
    ) STRICT;
    CREATE INDEX received_results_handoff ON received_results (handoff)
      WHERE handoff IS NOT NULL;

    -- The chain: `mac` is a keyed digest of the row before it and this row's columns.
    CREATE TABLE events (
      seq INTEGER PRIMARY KEY,
      at INTEGER NOT NULL,
      event TEXT NOT NULL,
      handoff INTEGER,
      asset INTEGER,
      destination TEXT,
      from_status TEXT,
      to_status TEXT,
      attempt INTEGER,
      detail TEXT,
      mac BLOB NOT NULL CHECK (length(mac) = 32)
    ) STRICT;
    CREATE INDEX events_handoff ON events (handoff) WHERE handoff IS NOT NULL;
    CREATE INDEX events_asset ON events (asset) WHERE asset IS NOT NULL;
    CREATE TRIGGER events_unchanged BEFORE UPDATE ON events
      BEGIN SELECT RAISE (ABORT, 'events are never changed'); END;
    CREATE TRIGGER events_kept BEFORE DELETE ON events
      BEGIN SELECT RAISE (ABORT, 'events are never deleted'); END;

    CREATE VIEW pending AS
      SELECT 'h' || id AS handoff_id, destination, status, waiting_reason, waiting_until, due_at,
        created_at, attempts,
        strftime('%Y-%m-%dT%H:%M:%fZ', created_at / 1000.0, 'unixepoch') AS created,
        strftime('%Y-%m-%dT%H:%M:%fZ', due_at / 1000.0, 'unixepoch') AS due
      FROM handoffs WHERE status IN ('pending', 'leased') ORDER BY id;

    CREATE VIEW results AS
      SELECT 'h' || r.handoff AS handoff_id, r.destination, h.status, r.result, r.verdict,
        r.error_code, r.error_effect, r.error_message, r.output, r.received_at,
        h.created_at, h.submitted_at, h.finished_at,
        strftime('%Y-%m-%dT%H:%M:%fZ', r.received_at / 1000.0, 'unixepoch') AS received
      FROM received_results AS r LEFT JOIN handoffs AS h ON h.id = r.handoff ORDER BY r.id;

    CREATE VIEW expired AS
      SELECT 'h' || id AS handoff_id, destination, status, error_effect, late_results, created_at,
        submitted_at, expires_at, ceiling_at, finished_at,
        strftime('%Y-%m-%dT%H:%M:%fZ', finished_at / 1000.0, 'unixepoch') AS finished
      FROM handoffs WHERE status = 'expired' ORDER BY id;

    -- One row for each claim; what came of it is the last that happened under it.
    CREATE VIEW attempts AS
      SELECT 'h' || e.handoff AS handoff_id, e.destination, e.attempt AS number,
        e.at AS claimed_at,
        (SELECT at FROM events WHERE handoff = e.handoff AND attempt = e.attempt
          AND event = 'submitted') AS submitted_at,
        (SELECT event FROM events WHERE handoff = e.handoff AND attempt = e.attempt
          AND event <> 'result_refused' ORDER BY seq DESC LIMIT 1) AS outcome,
        (SELECT at FROM events WHERE handoff = e.handoff AND attempt = e.attempt
          AND event <> 'result_refused' ORDER BY seq DESC LIMIT 1) AS outcome_at
      FROM events AS e WHERE e.event = 'claimed' ORDER BY e.seq;

    CREATE VIEW timeline AS
      SELECT e.seq, 'h' || e.handoff AS handoff_id, a.identifier AS local_identifier,
        e.destination, e.event, e.from_status, e.to_status AS status, e.attempt, e.detail, e.at,
        strftime('%Y-%m-%dT%H:%M:%fZ', e.at / 1000.0, 'unixepoch') AS time
      FROM events AS e LEFT JOIN assets AS a ON a.id = e.asset ORDER BY e.seq;
    """
}
