extension Schema {
  /// What the outcomes of handoffs need: wishes to cancel, needs of a person, late successes that count
  /// after every end but one, and what widens a limited destination.
  static let v007 = """
    -- When a person asked for the end of a handoff whose receiver has not answered that yet.
    ALTER TABLE handoffs ADD COLUMN cancel_requested_at INTEGER;
    -- What a person should do at the destination, in the receiver's words.
    ALTER TABLE handoffs ADD COLUMN user_need TEXT
      CHECK (user_need IS NULL OR status = 'needs_user');
    CREATE INDEX handoffs_wishes ON handoffs (destination, id)
      WHERE cancel_requested_at IS NOT NULL AND finished_at IS NULL;
    CREATE INDEX handoffs_late ON handoffs (id) WHERE late_results > 0;

    -- What the transition table of the code says of final states, said again.
    DROP TRIGGER handoffs_final;
    CREATE TRIGGER handoffs_final BEFORE UPDATE OF status ON handoffs
      WHEN OLD.finished_at IS NOT NULL AND NEW.status <> OLD.status
        AND NOT (OLD.status = 'failed' AND NEW.status = 'pending')
        AND NOT (NEW.status = 'succeeded' AND (OLD.status = 'expired'
          OR OLD.status = 'cancelled' OR OLD.status = 'failed'))
      BEGIN SELECT RAISE (ABORT, 'a final status never changes'); END;

    -- A person widened a limited destination by one asset.
    CREATE TABLE allowances (
      asset INTEGER NOT NULL REFERENCES assets (id),
      destination TEXT NOT NULL,
      allowed_at INTEGER NOT NULL,
      PRIMARY KEY (asset, destination)
    ) STRICT, WITHOUT ROWID;
    """
}
