// Placeholder until the first test of Destinations lands.
