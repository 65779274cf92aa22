// Placeholder until the first file of Destinations lands.
