// Placeholder until the first test of MediaProbe lands.
