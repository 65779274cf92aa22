// Placeholder until the first file of Ledger lands.
