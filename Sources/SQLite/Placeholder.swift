// Placeholder until the first file of SQLite lands.
