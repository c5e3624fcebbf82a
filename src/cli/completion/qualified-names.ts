import type { CompletionNames } from "./known-names.ts";
import type { Suggestion } from "./suggestions.ts";

/** More are not useful: then the server is completed first. */
const MANY = 50;

/** The forms of a full name, by their beginning. */
const SPELLINGS = [
  { start: "mcp__", before: "mcp__", between: "__" },
  { start: "mcp:", before: "mcp:", between: "." },
  { start: "", before: "", between: "." },
];

/** Full names of tools or prompts, in the form that was begun. */
export async function qualifiedNames(
  current: string,
  kind: "tools" | "prompts",
  names: Pick<CompletionNames, "servers" | "seen">,
): Promise<Suggestion[]> {
  const spelling = SPELLINGS.find(({ start }) => current.startsWith(start));
  const { before = "", between = "." } = spelling ?? {};
  const ids = [...(await names.servers()).keys()];
  const beginnings = ids
    .map((id) => ({ id, beginning: `${before}${id}${between}` }))
    .filter(({ beginning }) => beginning.startsWith(current) || current.startsWith(beginning));

  const found = await Promise.all(
    beginnings.map(async ({ id, beginning }) => {
      const seen = await names.seen(id, kind);
      // The server was never asked, so only its own name is known.
      if (!seen) return [{ value: beginning, description: `run nexus mcp ${kind} ${id} to complete its names` }];
      return seen.map((name): Suggestion => ({ value: beginning + name }));
    }),
  );
  const all = found.flat();
  if (beginnings.length === 1 || all.length <= MANY) return all;
  return beginnings.flatMap(({ beginning }, index) => {
    const count = found[index]?.length ?? 0;
    return count === 0 ? [] : [{ value: beginning, description: `${count} ${kind}` }];
  });
}
