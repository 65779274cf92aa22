extension Schema {
  /// What earlier attempts may have done, which expiries are moments, and refused results that are counted
  /// instead of kept one by one.
  static let v009 = """
    -- The worst that attempts before the present one may have left behind, until it is cleared.
    ALTER TABLE handoffs ADD COLUMN earlier_effect TEXT
      CHECK (earlier_effect = 'applied' OR earlier_effect = 'unknown');
    UPDATE handoffs SET earlier_effect = error_effect
      WHERE finished_at IS NULL AND status <> 'outcome_unknown'
        AND (error_effect = 'applied' OR error_effect = 'unknown');
    -- The sender gave a moment, not a duration: it stays where the clock is set.
    ALTER TABLE handoffs ADD COLUMN is_expiry_moment INTEGER NOT NULL DEFAULT 0
      CHECK (is_expiry_moment = 0 OR is_expiry_moment = 1);

    DROP VIEW results;
    ALTER TABLE received_results RENAME TO former_results;
    DROP INDEX received_results_handoff;
    -- Results that came. Refused ones are kept once for each kind, without what they said, and counted.
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
        OR verdict = 'unknown_state' OR verdict = 'wrong_destination' OR verdict = 'late'
        OR verdict = 'malformed'),
      times INTEGER NOT NULL DEFAULT 1 CHECK (times >= 1),
      last_at INTEGER
    ) STRICT;
    INSERT INTO received_results (id, handoff, destination, received_at, result, output, error_code,
        error_message, error_effect, verdict)
      SELECT id, handoff, destination, received_at, result,
        iif (verdict IN ('applied', 'retried', 'late'), output, NULL), error_code,
        iif (verdict IN ('applied', 'retried', 'late'), error_message, NULL), error_effect, verdict
      FROM former_results ORDER BY id;
    DROP TABLE former_results;
    CREATE INDEX received_results_handoff ON received_results (handoff, verdict, id)
      WHERE handoff IS NOT NULL;
    CREATE INDEX received_results_strays ON received_results (destination, verdict, received_at)
      WHERE handoff IS NULL;
    CREATE VIEW results AS
      SELECT 'h' || r.handoff AS handoff_id, r.destination, h.status, r.result, r.verdict,
        r.error_code, r.error_effect, r.error_message, r.output, r.received_at,
        h.created_at, h.submitted_at, h.finished_at,
        strftime('%Y-%m-%dT%H:%M:%fZ', r.received_at / 1000.0, 'unixepoch') AS received,
        r.times, ifnull (r.last_at, r.received_at) AS last_at
      FROM received_results AS r LEFT JOIN handoffs AS h ON h.id = r.handoff ORDER BY r.id;
    """
}
