// Placeholder until the first file of HandoffService lands.
