/** What one operation takes: `query limit`; and the members at the top of its body, by media type. */
export interface CountedOperation {
  parameters: string[];
  bodies: Map<string, string[]>;
}

export function countOperations(path: string): Map<string, CountedOperation>;

/** Files that are API descriptions. */
export const DESCRIPTION: RegExp;
