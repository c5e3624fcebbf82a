import { plainText } from "../outline.ts";

/** How often something occurs. */
export interface Occurs {
  required?: boolean;
  minItems?: number;
  /** More than one: it is a list. Infinity: without limit. */
  maxItems?: number;
  /** Said by a mark at the name: `name?`. Fields without it are required. */
  isMark?: true;
  /** It depends on something that the text says. */
  condition?: string;
}

const RANGE = /^\[?\(?(\d+)\s*(?:\.{2,3}|…|–|—|-|:|,|to|bis)\s*(\d+|n|m|\*|∞|unbounded|many|unlimited)\)?\]?(?:\s|$)/i;
const YES =
  /^(?:yes|y|true|required|mandatory|must|m|r|x|✓|✔|✅|☑|●|•|ja|j|pflicht|muss|always|erforderlich|req\.?|1)\b|^[✓✔✅☑●•*]/i;
const NO =
  /^(?:no|n|false|optional|o|opt\.?|nein|kann|-|–|—|✗|✘|❌|☐|○|never|not required|recommended|may|nicht|0)(?:\W|$)/i;
const CONDITIONAL = /^(?:conditional|c|cond\.?|depends|if\b|when\b|only|bedingt|falls|wenn|either|\*\*)/i;

/** What a cell such as `0…8`, `yes`, `M` or `conditional` says. */
export function occursOf(cell: string): Occurs {
  const text = plainText(cell);
  if (text === "") return {};
  const range = RANGE.exec(text);
  if (range) {
    const least = Number(range[1]);
    const most = /^\d+$/.test(range[2] ?? "") ? Number(range[2]) : Infinity;
    return { required: least > 0, ...(most > 1 ? { minItems: least, maxItems: most } : {}) };
  }
  if (/^(?:\d+\s*)?\+$|^1\+|^n$|^one or more/i.test(text)) return { required: true, minItems: 1, maxItems: Infinity };
  if (/^\*$|^0\+|^zero or more|^any number/i.test(text)) return { required: false, minItems: 0, maxItems: Infinity };
  if (text === "?") return { required: false };
  if (CONDITIONAL.test(text)) return { required: false, condition: text };
  if (/^not? (?:required|mandatory)/i.test(text) || NO.test(text)) return { required: false };
  if (YES.test(text)) return { required: true };
  const many = /^(\d+)$/.exec(text);
  if (many) return { required: true, minItems: Number(text), maxItems: Number(text) };
  return { required: false, condition: text };
}

/** `Optional: yes` says that it is not required. */
export function inverted({ required, ...rest }: Occurs): Occurs {
  return required === undefined ? rest : { ...rest, required: !required };
}
