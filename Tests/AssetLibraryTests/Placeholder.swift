// Placeholder until the first test of AssetLibrary lands.
