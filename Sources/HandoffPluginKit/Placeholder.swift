// Placeholder until the first file of HandoffPluginKit lands.
