extension Schema {
  /// Packages: which assets of a directory had their chance of a request.
  static let v005 = """
    -- A member is written with the package's handoffs. What is here makes none again, whatever the
    -- directory holds later and whatever became of its sidecar.
    CREATE TABLE package_members (
      path BLOB NOT NULL,
      asset INTEGER NOT NULL REFERENCES assets (id),
      recorded_at INTEGER NOT NULL,
      PRIMARY KEY (path, asset)
    ) STRICT, WITHOUT ROWID;
    """
}
