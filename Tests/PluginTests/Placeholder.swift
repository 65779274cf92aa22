// Placeholder until the first test of Plugin lands.
