// Placeholder until the first file of Digests lands.
