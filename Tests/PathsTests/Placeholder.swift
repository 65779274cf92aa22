// Placeholder until the first test of Paths lands.
