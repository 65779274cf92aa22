// Placeholder until the first test of HandoffConfig lands.
