// Placeholder until the first test of Ledger lands.
