extension Schema {
  /// Handoffs of a restored ledger, of which nobody knows what became of them.
  static let v014 = """
    -- Open when the ledger was made again from a backup or from the library: no receiver's word that it
    -- has not had one lets the machine send it again, since its own memory may be as old. Ends when a
    -- person has it tried again.
    CREATE TABLE restored_handoffs (
      handoff INTEGER PRIMARY KEY REFERENCES handoffs (id) ON DELETE CASCADE,
      restored_at INTEGER NOT NULL
    ) STRICT;
    """
}
