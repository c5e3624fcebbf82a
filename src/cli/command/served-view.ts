import { wrongUsage } from "./command-line.ts";

/** How tools are shown, if not in a list of all. */
type ServedView = "search";

/** Throws for a view that does not exist. */
export function readView(given: string | undefined): ServedView | undefined {
  if (given === undefined || given === "search") return given;
  throw wrongUsage(`--view "${given}" is not a view`, "Use --view search, or remove it to list all tools.");
}
