// Placeholder until the first test of Integration lands.
