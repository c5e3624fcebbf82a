import type { ManualCell, LineRange } from "./manual.ts";
import { attribute, contains, isElement, type Element } from "./bounded-tree.ts";

const MAX_COLUMNS = 100;
const MAX_CELLS = 200_000;
const TABLE = new Set(["table"]);
const HEADINGS = new Set(["h1", "h2", "h3", "h4", "h5", "h6"]);
const HEADERS = new Set(["th"]);

/** A row of the grid; a cell that spans several columns or rows is in each of them. */
export interface GridCell {
  element: Element;
  isHeader: boolean;
}

export interface TableGrid {
  caption: Element | undefined;
  rows: (GridCell | undefined)[][];
  /** How many rows are in `thead`. */
  headRows: number;
}

/** Tables that only arrange parts of a page. */
export function isLayoutTable(table: Element, { rows }: TableGrid): boolean {
  const role = attribute(table, "role");
  if (role === "presentation" || role === "none") return true;
  const width = widthOf(rows);
  if (contains(table, HEADERS, TABLE)) return false;
  return width < 2 || contains(table, HEADINGS) || table.childNodes.some((child) => isElement(child) && nests(child));
}

function nests(part: Element): boolean {
  return contains(part, TABLE);
}

/** The cells of a table without those of tables inside, with spans resolved. */
export function tableGrid(table: Element): TableGrid {
  const parts = table.childNodes.filter(isElement);
  const caption = parts.find(({ tagName }) => tagName === "caption");
  const sections = parts.filter(({ tagName }) => ["thead", "tbody", "tfoot"].includes(tagName));
  const grid = new Grid();
  let headRows = 0;
  for (const section of sections) {
    const rows = section.childNodes.filter(isElement).filter(({ tagName }) => tagName === "tr");
    for (const row of rows) grid.addRow(row);
    grid.endSection();
    if (section.tagName === "thead") headRows += rows.length;
  }
  return { caption, rows: grid.rows, headRows };
}

class Grid {
  readonly rows: (GridCell | undefined)[][] = [];
  /** By column: a cell that goes on below, and for how many rows. */
  #open: ({ cell: GridCell; left: number } | undefined)[] = [];
  #cells = 0;

  addRow(row: Element): void {
    const cells: (GridCell | undefined)[] = [];
    const takeOpen = () => {
      for (let open = this.#open[cells.length]; open && open.left > 0; open = this.#open[cells.length]) {
        open.left--;
        cells.push(open.cell);
      }
    };
    for (const element of row.childNodes.filter(isElement)) {
      if (element.tagName !== "td" && element.tagName !== "th") continue;
      takeOpen();
      const cell = { element, isHeader: element.tagName === "th" };
      const down = span(element, "rowspan", 1_000);
      for (let across = span(element, "colspan", MAX_COLUMNS); across > 0; across--) {
        if (cells.length >= MAX_COLUMNS) break;
        this.#open[cells.length] = { cell, left: down - 1 };
        cells.push(cell);
      }
    }
    takeOpen();
    this.#cells += cells.length;
    if (this.#cells > MAX_CELLS) throw new RangeError(`has a table with more than ${MAX_CELLS} cells`);
    this.rows.push(cells);
  }

  /** Cells do not reach into the next section. */
  endSection(): void {
    this.#open = [];
  }
}

function span(element: Element, name: string, most: number): number {
  const value = Number.parseInt(attribute(element, name) ?? "1", 10);
  return Number.isFinite(value) && value >= 1 ? Math.min(value, most) : name === "rowspan" && value === 0 ? most : 1;
}

function widthOf(rows: readonly unknown[][]): number {
  return rows.reduce((most, row) => Math.max(most, row.length), 0);
}

/** The head and the rows of a table, all of the same width. */
export function headAndRows(
  { rows, headRows }: TableGrid,
  cellOf: (cell: GridCell) => ManualCell,
  place: LineRange,
): { head: ManualCell[]; rows: ManualCell[][] } {
  const width = widthOf(rows);
  const count = headRows > 0 ? headRows : hasHead(rows) ? 1 : 0;
  const filled = rows.map((row) => {
    const cells = row.map((cell) => cell && cellOf(cell));
    const rowPlace = cells.find((cell) => cell !== undefined)?.place ?? place;
    return Array.from({ length: width }, (_, column): ManualCell => cells[column] ?? { text: "", place: rowPlace });
  });
  const body = filled.slice(count).filter((row) => row.some(({ text }) => text !== ""));
  const nothing = { text: "", place: { from: place.from, to: place.from } };
  const head = Array.from({ length: width }, (_, column) =>
    joined(
      filled.slice(0, count).flatMap((row) => row[column] ?? []),
      nothing,
    ),
  );
  return { head, rows: body };
}

/** Without `thead`, the first row is the head unless only its first cell is a header: then the rows have headers. */
function hasHead([first, second]: readonly (GridCell | undefined)[][]): boolean {
  if (!first || !second) return false;
  const headers = first.filter((cell) => cell?.isHeader).length;
  if (headers > 1 || (headers === 1 && first.length === 1)) return true;
  return headers === 0 && !second[0]?.isHeader;
}

/** Several rows of a head as one; a cell that spans them counts once. */
function joined(cells: readonly ManualCell[], nothing: ManualCell): ManualCell {
  const texts = [...new Set(cells.map(({ text }) => text).filter((text) => text !== ""))];
  const [first] = cells;
  const last = cells.at(-1);
  if (!first || !last) return nothing;
  return { text: texts.join(" "), place: { from: first.place.from, to: last.place.to } };
}
