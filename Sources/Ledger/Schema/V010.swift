extension Schema {
  /// The transition table of the code said again, and what belongs together in a row.
  ///
  /// As triggers: a CHECK constraint cannot see the row before, and none can be added to a table that is
  /// there.
  static let v010 = """
    -- Every status that may follow another; what an ended handoff may become is among them. What was not
    -- sent becomes `outcome_unknown` only by a restored backup.
    DROP TRIGGER handoffs_final;
    CREATE TRIGGER handoffs_moves BEFORE UPDATE OF status ON handoffs
      WHEN NEW.status <> OLD.status AND NOT CASE OLD.status
        WHEN 'pending' THEN NEW.status = 'leased' OR NEW.status = 'cancelled'
          OR NEW.status = 'refused' OR NEW.status = 'failed' OR NEW.status = 'expired'
          OR NEW.status = 'outcome_unknown'
        WHEN 'leased' THEN NEW.status = 'pending' OR NEW.status = 'submitted'
          OR NEW.status = 'cancelled' OR NEW.status = 'refused' OR NEW.status = 'failed'
          OR NEW.status = 'expired' OR NEW.status = 'outcome_unknown'
        WHEN 'submitted' THEN NEW.status <> 'leased'
        WHEN 'accepted' THEN NEW.status <> 'leased' AND NEW.status <> 'submitted'
        WHEN 'outcome_unknown' THEN NEW.status <> 'leased' AND NEW.status <> 'submitted'
          AND NEW.status <> 'refused'
        WHEN 'needs_user' THEN NEW.status <> 'leased' AND NEW.status <> 'submitted'
          AND NEW.status <> 'refused'
        WHEN 'failed' THEN NEW.status = 'pending' OR NEW.status = 'succeeded'
        WHEN 'expired' THEN NEW.status = 'succeeded'
        WHEN 'cancelled' THEN NEW.status = 'succeeded'
        ELSE 0 END
      BEGIN SELECT RAISE (ABORT, 'the life of a handoff does not have this move'); END;
    -- A rebuilt ledger takes over what was open as `outcome_unknown`.
    CREATE TRIGGER handoffs_begin BEFORE INSERT ON handoffs
      WHEN NEW.status <> 'pending' AND NEW.status <> 'outcome_unknown'
      BEGIN SELECT RAISE (ABORT, 'a handoff begins as pending'); END;

    CREATE TRIGGER handoffs_together BEFORE UPDATE OF status, lease_until, result, consumed_at,
        finished_at, cancel_requested_at, waiting_reason, error_code, error_effect, failures,
        late_results ON handoffs
      WHEN (NEW.lease_until IS NOT NULL AND NEW.status <> 'leased')
        OR (NEW.status = 'pending' AND NEW.due_at IS NULL AND NEW.waiting_reason IS NULL)
        OR (NEW.status = 'expired' AND NEW.result IS NOT NULL)
        OR (NEW.consumed_at IS NOT NULL AND NEW.result IS NULL)
        OR (NEW.cancel_requested_at IS NOT NULL AND NEW.finished_at IS NOT NULL)
        OR (NEW.status = 'succeeded' AND NEW.error_code IS NOT NULL)
        OR NEW.failures < 0 OR NEW.late_results < OLD.late_results
      BEGIN SELECT RAISE (ABORT, 'the columns of this handoff contradict each other'); END;
    -- An attempt is counted by its claim, and a submission recorded under one; of a ledger that was rebuilt
    -- or restored the receiver may say that it had one.
    CREATE TRIGGER handoffs_counted BEFORE UPDATE OF attempts, submitted_at ON handoffs
      WHEN NEW.attempts <> OLD.attempts + (OLD.status = 'pending' AND NEW.status = 'leased')
        OR (NEW.submitted_at IS NOT OLD.submitted_at
          AND (OLD.status <> 'leased' OR NEW.status <> 'submitted')
          AND (OLD.submitted_at IS NOT NULL OR NEW.status <> 'accepted'))
      BEGIN SELECT RAISE (ABORT, 'an attempt is counted once, and sent once'); END;
    -- One result ends a handoff and consumes its token; that stays, until a person decides otherwise by
    -- one of the moves above.
    CREATE TRIGGER handoffs_ended BEFORE UPDATE OF result, consumed_at ON handoffs
      WHEN NEW.status = OLD.status
        AND (NEW.result IS NOT OLD.result OR NEW.consumed_at IS NOT OLD.consumed_at)
      BEGIN SELECT RAISE (ABORT, 'the end of a handoff never changes'); END;

    -- What the token is made from is forgotten once nothing can be sent any more, and never replaced.
    CREATE TRIGGER handoffs_token BEFORE UPDATE OF token_random ON handoffs
      WHEN OLD.finished_at IS NULL OR OLD.status = 'failed' OR NEW.token_random <> zeroblob (24)
      BEGIN SELECT RAISE (ABORT, 'the token of this handoff may still be needed'); END;
    CREATE INDEX handoffs_remembered ON handoffs (finished_at)
      WHERE finished_at IS NOT NULL AND status <> 'failed'
        AND token_random <> x'000000000000000000000000000000000000000000000000';
    """
}
