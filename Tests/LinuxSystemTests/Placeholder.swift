// Placeholder until the first test of LinuxSystem lands.
