// Placeholder until the first test of ContainerChecks lands.
