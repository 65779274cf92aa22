// Placeholder until the first file of MediaProbe lands.
