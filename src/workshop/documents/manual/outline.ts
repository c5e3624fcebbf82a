import type { Manual, ManualBlock } from "./blocks/manual.ts";

/** A heading with everything below it, up to the next heading of its level. */
export interface ManualSection {
  /** Without its number and markup. */
  title: string;
  /** `4.2` of `4.2 Board`. */
  number?: string;
  level: number;
  parent?: ManualSection;
  /** Indexes of its blocks: from its heading to before the next section that is not inside of it. */
  from: number;
  to: number;
}

/** A block together with the sections that it is in. */
export interface PlacedBlock {
  block: ManualBlock;
  index: number;
  section: ManualSection;
}

/** The blocks of a manual in order, each with its innermost section. */
export interface Outline {
  manual: Manual;
  blocks: PlacedBlock[];
  /** In order; the first one is the whole manual and has no heading. */
  sections: ManualSection[];
}

export function outlineOf(manual: Manual): Outline {
  const whole: ManualSection = { title: manual.title ?? "", level: 0, from: 0, to: manual.blocks.length };
  const sections: ManualSection[] = [whole];
  const blocks: PlacedBlock[] = [];
  let current = whole;
  for (const [index, block] of manual.blocks.entries()) {
    if (block.kind === "heading") {
      while (current.parent && current.level >= block.level) {
        current.to = index;
        current = current.parent;
      }
      current = {
        ...headingOf(block.text),
        level: Math.max(1, block.level),
        parent: current,
        from: index,
        to: manual.blocks.length,
      };
      sections.push(current);
    }
    blocks.push({ block, index, section: current });
  }
  return { manual, blocks, sections };
}

/** `4.2` and `Board` of `4.2 Board`, also `Chapter 4: Board`. */
function headingOf(text: string): { title: string; number?: string } {
  const plain = plainText(text);
  const found =
    /^(?:(?:chapter|section|appendix|kapitel|abschnitt|anhang)\s+)?((?:\d+|[A-Z](?=\.\d))(?:\.\d+)*)[.):]?\s+(?=\S)/i.exec(
      plain,
    ) ??
    /^(?:appendix|annex|anhang)\s+([A-Z])\b[.):]?\s*[–—-]?\s*(?=\S)/i.exec(plain) ??
    /^([A-Z])[.)]\s+(?=\S)/.exec(plain);
  if (!found) return { title: plain };
  return { title: plain.slice(found[0].length).trim(), number: found[1] ?? "" };
}

/** Text without the marks of code and emphasis. */
export function plainText(text: string): string {
  return text
    .replaceAll(/\*\*|__(?=\S)|(?<=\S)__|`/g, "")
    .replaceAll(/\s+/g, " ")
    .trim();
}

/** The titles from the innermost section outwards, without that of the manual. */
export function titlesOf(section: ManualSection): string[] {
  const titles: string[] = [];
  for (let each: ManualSection | undefined = section; each && each.level > 0; each = each.parent)
    titles.push(each.title);
  return titles;
}

/** The text that introduces a block: the short paragraph, item or caption directly before it. */
export function leadOf(outline: Outline, index: number): string {
  const own = outline.blocks[index]?.block;
  if (own?.kind === "table" && own.caption !== undefined) return plainText(own.caption);
  const before = outline.blocks[index - 1]?.block;
  if (!before || (before.kind !== "paragraph" && before.kind !== "item")) return "";
  return plainText(before.text);
}
