// Placeholder until the first test of HandoffCore lands.
