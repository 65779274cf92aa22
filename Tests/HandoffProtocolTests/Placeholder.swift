// Placeholder until the first test of HandoffProtocol lands.
