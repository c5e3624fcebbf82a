import { quoteForPosix, splitShellWords } from "../../../text/shell-words.ts";

/** Which operations an import takes. */
export interface Choice {
  /** See `selected`. */
  select?: readonly string[];
  /** What becomes of operations that are not selected; default: they are left out. */
  rest?: "leave" | "search";
}

const CHOSEN = "Chosen with: ";

/** A line for the head of the file, from which the next import knows what to choose. */
export function choiceText({ select = [], rest }: Choice): string | undefined {
  const words = [
    ...select.map((text) => `--select ${quoteForPosix(text.replaceAll(/\s+/g, " "))}`),
    ...(rest === "search" ? ["--rest search"] : []),
  ];
  return words.length === 0 ? undefined : `${CHOSEN}${words.join(" ")}`;
}

/** What the head of a file says about its last import. */
export function choiceIn(text: string): Choice {
  const lines = text.slice(0, 20_000).split("\n");
  const line = lines.find((each) => each.startsWith(`# ${CHOSEN}`));
  if (line === undefined) return {};
  const { words } = splitShellWords(line.slice(2 + CHOSEN.length), "linux");
  const select = words.filter((_, at) => words[at - 1] === "--select");
  return { select, ...(words.includes("--rest") ? { rest: "search" as const } : {}) };
}
