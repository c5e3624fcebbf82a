/** One thing to change in a file: a value at a path, or what stands there removed. */
export interface Change {
  path: readonly (string | number)[];
  /** Undefined removes. */
  value: unknown;
}
