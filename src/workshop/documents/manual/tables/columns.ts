import type { ManualCell } from "../blocks/manual.ts";
import { typeOf } from "../fields/type-words.ts";
import { plainText } from "../outline.ts";

type TableBlock = { head: ManualCell[]; rows: ManualCell[][] };

/** What a column of a table says about the thing of its row. */
export type Column =
  | "name"
  | "kind"
  | "type"
  | "required"
  | "optional"
  | "text"
  | "default"
  | "example"
  | "length"
  | "minimum"
  | "maximum"
  | "format"
  | "values"
  | "place"
  | "secret"
  | "call"
  | "code"
  | "status"
  | "limit"
  | "method"
  | "address"
  | "other";

/** The words in heads of columns, in English and German. The first that matches counts. */
const HEADS: readonly (readonly [Column, RegExp])[] = [
  ["status", /^(?:https?[- ])?(?:status|response)(?:[- ]?codes?)?$|^http(?: code)?$|^statuscode$|^http-?status$/],
  ["method", /^(?:http[- ]?)?(?:method|verb|methode)$/],
  [
    "address",
    /^(?:url|uri|address|endpoint|end point|route|resource(?: path)?|pfad|adresse|request url|method and (?:address|path|url))$/,
  ],
  [
    "required",
    /required|mandatory|\boccur|^occ?s?\.?$|cardinality|multiplicity|pflicht|^m\/o|^o\/m|^req\.?$|^m$|^presence$|^usage$|^m ?[/|,] ?c ?[/|,] ?o$|^r ?[/|] ?o$|^mand\.?$|^obligatory$|^oblig\.?$|^needed$|necessity|erforderlich|^anzahl$|^card\.?$|^min\/max$|^mult\.?$/,
  ],
  ["optional", /^optional\??$/],
  ["default", /default|^standard(?:wert)?$|^vorgabe/],
  ["example", /example|sample|beispiel|placeholder/],
  [
    "length",
    /length|^len\.?$|^size$|^l[äa]nge|^max\.? ?(?:len|chars?|characters|zeichen)|^zeichen$|^digits$|^stellen$/,
  ],
  ["minimum", /^min(?:imum|\.|imal)?(?: value|wert)?$/],
  ["maximum", /^max(?:imum|\.|imal)?(?: value|wert)?$/],
  [
    "values",
    /values$|^enum|^codes$|wertebereich|^werte$|^range$|^allowed$|^choices$|^options$|^domain$|^m[öo]gliche werte/,
  ],
  ["place", /^(?:in|location|place|where|position|sent in|passed in|param(?:eter)? type|source|ort)$/],
  ["secret", /^(?:secret|confidential|geheim|vertraulich)\??$/],
  ["call", /^(?:calls?|operations?|used (?:in|by)|function|service|methods?|aufruf|funktion|request)$/],
  ["type", /^(?:data ?|field ?|value ?|xml ?|json ?)?(?:type|typ)s?$|^datentyp$|^datatype$/],
  ["kind", /^(?:kind|art|node|node type|xml kind|element\/attribute)$/],
  ["format", /^(?:format|pattern|regex|syntax|muster)$/],
  ["limit", /^(?:limits?|constraints?|restrictions?|grenzen?|limitation|beschr[äa]nkung(?:en)?)$/],
  [
    "code",
    /^(?:code|error ?code|value|id|no\.?|nr\.?|number|wert|key ?value|constant|symbol|abbreviation|k[üu]rzel|schl[üu]ssel|ziffer|kennzeichen|error)$/,
  ],
  [
    "name",
    /^(?:(?:field|parameter|param|argument|element|attribute|property|header|query|path|body|form|xml|json|request|response|variable|member|tag|key|input|output|url|query ?string)[- ]?)*(?:field|parameter|param|argument|element|attribute|property|header|variable|member|tag|key|name|path|option|item|input|output|query|body|form|payload)s?(?: name)?$|^feld(?:name)?$|^parametername$|^bezeichner$|^eigenschaft$|^attribut$|^(?:xml-?)?element$|^schl[üu]ssel$|^variable$|^(?:field|element|attribute|parameter|property|tag|node)s? ?(?:\/|or|and|,|oder|und) ?\w+s?$|^name .*$|^elem\.?$/,
  ],
  [
    "text",
    /description|meaning|^rules?$|notes?$|comments?$|remarks?|details?|beschreibung|bedeutung|bemerkung|hinweis|purpose|explanation|^info|erl[äa]uterung|^text$|^message$|^zweck$|^definition$|^what$|^reason$|^situation$|^inhalt$|^label$|^title$/,
  ],
];

/** The roles of the columns, by their heads. */
export function columnsOf(table: TableBlock): Column[] {
  const found = table.head.map(({ text }) => columnOf(text));
  // `Element/Attribute` is the head of names as well.
  const kinds = found.indexOf("kind");
  if (kinds >= 0 && !found.includes("name") && !mostly(table, kinds, isKindText)) found[kinds] = "name";
  // `Kind | Type`: the first says whether it is an element or an attribute. Without a type, the kind is the type.
  if (found.includes("kind") && !found.includes("type")) found[found.indexOf("kind")] = "type";
  if (found.includes("format") && !found.includes("type")) {
    const cells = found.indexOf("format");
    found[cells] = "type";
  }
  // A column of types may have any head: `Content`, `Data`.
  if (!found.includes("type") && found.includes("name")) {
    const types = found.findIndex(
      (column, index) => (column === "other" || column === "text") && mostly(table, index, isTypeText),
    );
    if (types >= 0) found[types] = "type";
  }
  return found;
}

function isKindText(text: string): boolean {
  return /^(?:element|attribut|attr\b|elem\b|node\b|text\b|knoten\b|[ea]$)/i.test(plainText(text));
}

/** A type and perhaps its length or format, and no sentence. */
function isTypeText(text: string): boolean {
  const plain = plainText(text);
  const { type, list } = typeOf(plain);
  return (
    (type !== undefined || list === true) &&
    plain
      .replaceAll(/\([^)]*\)/g, "")
      .trim()
      .split(/\s+/).length < 4
  );
}

function columnOf(head: string): Column {
  const text = plainText(head)
    .toLowerCase()
    .replace(/[?:*]+$/, "")
    .trim();
  if (text === "") return "other";
  return HEADS.find(([, pattern]) => pattern.test(text))?.[0] ?? "other";
}

/** Whether most cells of a column are of a kind; empty ones do not count. */
export function mostly({ rows }: TableBlock, column: number, is: (text: string) => boolean): boolean {
  const cells = rows.slice(0, 200).flatMap((row) => row[column]?.text.trim() || []);
  return cells.length > 0 && cells.filter(is).length >= cells.length * 0.7;
}
