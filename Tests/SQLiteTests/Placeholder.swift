// Placeholder until the first test of SQLite lands.
