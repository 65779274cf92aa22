extension Schema {
  /// Renditions, and what is ordered after other destinations.
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

    -- What waits for other destinations is looked for whenever one of those ends.
    CREATE INDEX handoffs_after ON handoffs (id)
      WHERE status = 'pending' AND waiting_reason = 'after';
    """
}
