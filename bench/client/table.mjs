/** Rows of cells in columns; the first row may be wider than its columns. */
export function printTable(rows) {
  const cells = rows.map((row) => row.map(String));
  const widths = cells[1].map((_, column) => Math.max(...cells.slice(1).map((row) => row[column].length)));
  for (const row of cells)
    console.log(
      row
        .map((cell, column) => cell.padEnd(widths[column]))
        .join("  ")
        .trimEnd(),
    );
}

/** `bare` is the same ratio for the bare client: a goal beyond it is out of reach for anyone on this machine. */
export function verdict(ratio, relation, goal, bare, name = "bare") {
  const meets = (value) => (relation === "<=" ? value <= goal : value >= goal);
  const word = meets(ratio) ? "met" : "MISSED";
  const beyond = !meets(ratio) && bare !== undefined && !meets(bare) ? `, ${name} ${bare.toFixed(2)}x` : "";
  return `${ratio.toFixed(2)}x (goal ${relation} ${goal}x: ${word}${beyond})`;
}

/** The median of each figure. */
export function medians(figures) {
  const names = Object.keys(figures[0]);
  return Object.fromEntries(names.map((name) => [name, median(figures.map((each) => each[name]))]));
}

export function median(numbers) {
  return numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)];
}
