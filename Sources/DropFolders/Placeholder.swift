// Placeholder until the first file of DropFolders lands.
