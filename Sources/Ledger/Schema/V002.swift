extension Schema {
  /// When each asset's object was last read again, and the modification time that it had then.
  ///
  /// `verified_at` is set whatever the reading has shown; `object_mtime_ns` only where it was good. An
  /// object with another modification time was written to, and is read before it is handed off.
  static let v002 = """
    ALTER TABLE assets ADD COLUMN verified_at INTEGER;
    ALTER TABLE assets ADD COLUMN object_mtime_ns INTEGER;
    CREATE INDEX assets_verified ON assets (ifnull (verified_at, imported_at), id)
      WHERE status <> 'deleted';
    """
}
