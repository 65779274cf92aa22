// Placeholder until the first file of HandoffConfig lands.
