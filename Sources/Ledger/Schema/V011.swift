extension Schema {
  /// Renditions, and what has succeeded of handoffs that are not kept any more.
  static let v011 = """
    -- What receivers derived from assets. The object is in the library under its digest.
    CREATE TABLE renditions (
      id INTEGER PRIMARY KEY,
      asset INTEGER NOT NULL REFERENCES assets (id),
      name TEXT NOT NULL CHECK (length (name) BETWEEN 1 AND 32 AND name <> 'original'),
      digest BLOB NOT NULL CHECK (length (digest) = 32),
      size INTEGER NOT NULL CHECK (size >= 0),
      extension TEXT NOT NULL,
      -- The facts of a video; all null for anything else.
      container TEXT,
      video_codec TEXT,
      width INTEGER,
      height INTEGER,
      rotation INTEGER,
      duration_s REAL,
      audio_tracks INTEGER,
      -- Who registered it.
      destination TEXT NOT NULL,
      registered_at INTEGER NOT NULL,
      status TEXT NOT NULL DEFAULT 'present'
        CHECK (status = 'present' OR status = 'damaged' OR status = 'unavailable'),
      verified_at INTEGER,
      object_mtime_ns INTEGER,
      UNIQUE (asset, name),
      CHECK ((container IS NULL) = (video_codec IS NULL) AND (container IS NULL) = (width IS NULL)
        AND (container IS NULL) = (height IS NULL) AND (container IS NULL) = (rotation IS NULL)
        AND (container IS NULL) = (duration_s IS NULL)
        AND (container IS NULL) = (audio_tracks IS NULL))
    ) STRICT;
    CREATE INDEX renditions_digest ON renditions (digest);

    -- That an asset was handed off to a destination with success outlives the handoff's row: others may
    -- be ordered after it.
    CREATE TABLE past_successes (
      asset INTEGER NOT NULL REFERENCES assets (id),
      destination TEXT NOT NULL,
      handoff INTEGER NOT NULL,
      finished_at INTEGER NOT NULL,
      PRIMARY KEY (asset, destination)
    ) STRICT, WITHOUT ROWID;
    CREATE TRIGGER handoffs_succeeded BEFORE DELETE ON handoffs WHEN OLD.status = 'succeeded'
      BEGIN
        INSERT OR IGNORE INTO past_successes (asset, destination, handoff, finished_at)
          SELECT asset, OLD.destination, OLD.id, OLD.finished_at FROM handoff_assets
          WHERE handoff = OLD.id;
      END;
    -- The same for whoever removes the members first.
    CREATE TRIGGER handoff_assets_succeeded BEFORE DELETE ON handoff_assets
      BEGIN
        INSERT OR IGNORE INTO past_successes (asset, destination, handoff, finished_at)
          SELECT OLD.asset, destination, id, finished_at FROM handoffs
          WHERE id = OLD.handoff AND status = 'succeeded';
      END;

    -- What waits for other destinations is looked for whenever one of those ends.
    CREATE INDEX handoffs_after ON handoffs (id)
      WHERE status = 'pending' AND waiting_reason = 'after';
    """
}
