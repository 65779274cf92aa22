// Placeholder until the first test of Digests lands.
