// Placeholder until the first file of AssetLibrary lands.
