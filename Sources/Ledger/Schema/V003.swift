extension Schema {
  /// What the lives of assets need: tombstones, retention, what a person accepted, originals that wait.
  ///
  /// It needs nothing of the other steps after the first.
  static let v003 = """
    -- The last moment that the asset was needed, as far as it was written down: an end of a handoff
    -- after it is added only when somebody asks whether the asset is too old.
    ALTER TABLE assets ADD COLUMN used_at INTEGER NOT NULL DEFAULT 0;
    UPDATE assets SET used_at = max (imported_at,
      ifnull ((SELECT max (seen_at) FROM sightings WHERE asset = assets.id), 0));
    CREATE TRIGGER assets_used AFTER INSERT ON assets WHEN NEW.used_at < NEW.imported_at
      BEGIN UPDATE assets SET used_at = NEW.imported_at WHERE id = NEW.id; END;
    CREATE INDEX assets_by_use ON assets (used_at) WHERE status = 'present';

    -- Of a deleted asset: when its bytes were gone for certain; null while they may still be there.
    ALTER TABLE assets ADD COLUMN bytes_gone_at INTEGER;
    CREATE INDEX assets_unremoved ON assets (id)
      WHERE status = 'deleted' AND bytes_gone_at IS NULL;

    -- A person took it although the checks said no: when, which user id, what the checks said.
    ALTER TABLE assets ADD COLUMN accepted_at INTEGER;
    ALTER TABLE assets ADD COLUMN accepted_by INTEGER;
    ALTER TABLE assets ADD COLUMN accepted_findings TEXT
      CHECK ((accepted_findings IS NULL) = (accepted_at IS NULL));

    -- The original at this path is touched once every handoff has succeeded, and has not been yet.
    ALTER TABLE sightings ADD COLUMN original_waits INTEGER NOT NULL DEFAULT 0
      CHECK (original_waits = 0 OR original_waits = 1);
    CREATE INDEX sightings_waiting ON sightings (asset) WHERE original_waits = 1;

    CREATE INDEX assets_superseding ON assets (supersedes) WHERE supersedes IS NOT NULL;
    """
}
