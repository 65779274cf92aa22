extension Schema {
  /// Notices to callback ids: a queue that outlives the broker.
  ///
  /// A notice is due at `due_at`; of one subject and callback only the first pending one is. `condition`
  /// keeps what was told from being told again: it is null for what happens once by its nature, and
  /// becomes null when what lasted is over. `seen_at` is when the condition was found last.
  static let v004 = """
    CREATE TABLE notices (
      id INTEGER PRIMARY KEY AUTOINCREMENT,
      callback TEXT NOT NULL CHECK (length(callback) > 0),
      kind TEXT NOT NULL CHECK (length(kind) > 0),
      subject TEXT NOT NULL,
      condition TEXT,
      body TEXT NOT NULL,
      state TEXT NOT NULL CHECK (state = 'pending' OR state = 'delivered' OR state = 'failed'),
      attempts INTEGER NOT NULL DEFAULT 0 CHECK (attempts >= 0),
      created_at INTEGER NOT NULL,
      seen_at INTEGER NOT NULL,
      due_at INTEGER,
      first_attempt_at INTEGER,
      finished_at INTEGER,
      error TEXT,
      CHECK ((due_at IS NOT NULL) = (state = 'pending')),
      CHECK ((finished_at IS NULL) = (state = 'pending'))
    ) STRICT;
    CREATE UNIQUE INDEX notices_condition ON notices (condition, callback)
      WHERE condition IS NOT NULL;
    CREATE INDEX notices_due ON notices (callback, due_at, id) WHERE state = 'pending';
    CREATE INDEX notices_order ON notices (callback, subject, id) WHERE state = 'pending';
    CREATE INDEX notices_failed ON notices (id) WHERE state = 'failed';
    CREATE INDEX notices_subject ON notices (subject);
    CREATE INDEX notices_finished ON notices (finished_at) WHERE finished_at IS NOT NULL;

    -- What has not reached its callback, for `sqlite3`.
    CREATE VIEW undelivered AS
      SELECT 'n' || id AS notice_id, callback, kind, subject, state, attempts, error, due_at,
        created_at,
        strftime('%Y-%m-%dT%H:%M:%fZ', created_at / 1000.0, 'unixepoch') AS created,
        strftime('%Y-%m-%dT%H:%M:%fZ', due_at / 1000.0, 'unixepoch') AS due
      FROM notices WHERE state <> 'delivered' ORDER BY id;
    """
}
