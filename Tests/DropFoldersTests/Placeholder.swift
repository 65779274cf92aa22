// Placeholder until the first test of DropFolders lands.
