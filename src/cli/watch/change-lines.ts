import { visible } from "../../text/visible.ts";
import type { ResourceContents } from "../../protocol/mcp.ts";
import { sizeText } from "../../text/byte-size.ts";
import type { SeenChange } from "./change-watcher.ts";
import type { Output } from "../output/output.ts";
import { cut } from "../output/text-width.ts";

const FIRST_LINES = 3;

/** A change for people: `12:03:04 tools changed: +new_tool -old_tool`. */
export function changeLines(change: SeenChange, out: Pick<Output, "columns" | "style">): string[] {
  const time = out.style("dim", new Date(change.time).toTimeString().slice(0, 8));
  switch (change.kind) {
    case "list-changed": {
      const names = [
        ...change.added.map((name) => out.style("green", `+${visible(name)}`)),
        ...change.removed.map((name) => out.style("red", `-${visible(name)}`)),
      ];
      return [`${time} ${change.list} changed: ${names.join(" ") || "same names as before"}`];
    }
    case "resource-updated": {
      const width = out.columns === undefined ? undefined : out.columns - 11;
      const below =
        change.error === undefined ? (change.contents ?? []).flatMap(firstLines) : [`cannot be read: ${change.error}`];
      const shown = below.map((line) => `           ${cut(visible(line), width)}`.trimEnd());
      return [`${time} resource updated: ${out.style("cyan", visible(change.uri))}`, ...shown];
    }
    case "interrupted":
      return [`${time} ${out.style("yellow", "interrupted:")} ${visible(change.reason)}; changes may be missed`];
    case "restored":
      return [`${time} ${out.style("green", "restored")}`];
  }
}

function firstLines({ text, blob, mimeType }: ResourceContents): string[] {
  if (typeof text !== "string") {
    const bytes = typeof blob === "string" ? sizeText(Math.floor((blob.length * 3) / 4)) : "nothing";
    return [`${mimeType ?? "binary"}, ${bytes}`];
  }
  const lines = text.trimEnd().split(/\r?\n/);
  return lines.length > FIRST_LINES ? [...lines.slice(0, FIRST_LINES), "…"] : lines;
}
