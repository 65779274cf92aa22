// Placeholder until the first file of ContainerChecks lands.
