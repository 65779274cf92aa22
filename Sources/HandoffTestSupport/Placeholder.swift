// Placeholder until the first file of HandoffTestSupport lands.
