// Placeholder until the first file of HandoffWire lands.
