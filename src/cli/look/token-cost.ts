import type { Tool } from "../../protocol/mcp.ts";

/** Models split JSON into pieces of about this many letters. */
const LETTERS_PER_TOKEN = 3.5;

/** Roughly how much of a model's context the definition of a tool takes, in each request that offers it. */
export function tokenCost({ name, description, inputSchema }: Tool): number {
  return Math.ceil(JSON.stringify({ name, description, inputSchema }).length / LETTERS_PER_TOKEN);
}
