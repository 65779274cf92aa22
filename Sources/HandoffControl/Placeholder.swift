// Placeholder until the first file of HandoffControl lands.
