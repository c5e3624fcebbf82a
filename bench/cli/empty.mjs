// The least a Node program can be.
