// Numbers that must not grow: scripts/ceilings.json has the most that each may be.
import { existsSync, readFileSync, writeFileSync } from "node:fs";

const FILE = "scripts/ceilings.json";

/**
 * Does with numbers what the command line says: `--check` fails where one is above its ceiling, `--lower` lowers ceilings
 * to the numbers, and without either of them they are printed. `labels` says what each number is, in the order of the lines.
 */
export function reportNumbers(numbers, labels) {
  if (process.argv.includes("--lower")) lowerCeilings(numbers, labels);
  else if (process.argv.includes("--check")) checkCeilings(numbers, labels);
  else printNumbers(numbers, labels);
}

function checkCeilings(numbers, labels) {
  const ceilings = readCeilings();
  const higher = Object.keys(labels).filter((name) => !(numbers[name] <= ceilings[name]));
  for (const name of higher) {
    console.error(`${labels[name]}: ${numbers[name]}, above the ceiling of ${ceilings[name]} ("${name}" in ${FILE}).`);
  }
  if (higher.length === 0) return;
  console.error("A ceiling goes up only with a reason in the commit.");
  process.exitCode = 1;
}

/** Numbers without a ceiling get one; ceilings of numbers that exist no more stay, because two scripts write the file. */
function lowerCeilings(numbers, labels) {
  const ceilings = readCeilings();
  for (const name of Object.keys(labels)) ceilings[name] = Math.min(numbers[name], ceilings[name] ?? Infinity);
  writeFileSync(FILE, `${JSON.stringify(ceilings, null, 2)}\n`);
}

function printNumbers(numbers, labels) {
  const ceilings = readCeilings();
  for (const [name, label] of Object.entries(labels)) {
    const ceiling = ceilings[name];
    const note = ceiling === numbers[name] ? "" : ` (ceiling: ${ceiling ?? "none"})`;
    console.log(`${String(numbers[name]).padStart(8)}  ${label}${note}`);
  }
}

function readCeilings() {
  return existsSync(FILE) ? JSON.parse(readFileSync(FILE, "utf8")) : {};
}
