// The least a Node program can be.
globalThis.nothing = undefined;
