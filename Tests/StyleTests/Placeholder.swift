// Placeholder until the first test of Style lands.
