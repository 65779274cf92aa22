// Placeholder until the first test of HandoffPluginKit lands.
