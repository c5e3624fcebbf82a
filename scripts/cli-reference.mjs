// Writes docs/reference/cli.md from what the built program says of its commands; `--check` fails where the file differs.
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";

const REFERENCE = "docs/reference/cli.md";
const NEXUS = pathToFileURL(resolve("dist/cli/main.js")).href;

// Each run of the program listens for errors of these streams.
for (const stream of [process.stdout, process.stderr]) stream.setMaxListeners(0);
const text = await render();
if (!process.argv.includes("--check")) {
  writeFileSync(REFERENCE, text);
} else if (!existsSync(REFERENCE) || readFileSync(REFERENCE, "utf8") !== text) {
  console.error(`${REFERENCE} is not what the commands say. Run: npm run reference`);
  process.exit(1);
}

async function render() {
  const { commands } = await describe([]);
  const described = [];
  for (const { name } of commands) described.push(await describe(name.split(" ")));
  const sections = [...new Set(commands.map(({ section }) => section))].flatMap((section) => {
    const members = described.filter((_, index) => commands[index].section === section);
    return [`## ${section}`, ...members.map(commandSection)];
  });
  const head = [
    "# Command line reference",
    "Generated from the commands by `scripts/cli-reference.mjs`; do not edit. [The guide](../guide/cli.md) shows how they are used.",
    "Every command takes:",
    optionTable(described[0].flags),
    exitCodes(),
  ];
  return `${[...head, ...sections].join("\n\n")}\n`;
}

/** Runs the program in this process, which loads it once: one process per command would take ten times as long. */
async function describe(words) {
  const { argv, stdout } = process;
  const write = stdout.write.bind(stdout);
  let output = "";
  process.argv = [process.execPath, NEXUS, ...words, "--help", "--json"];
  stdout.write = (chunk) => ((output += chunk), true);
  try {
    await import(`${NEXUS}?words=${words.join("+")}`);
  } finally {
    process.argv = argv;
    stdout.write = write;
  }
  return JSON.parse(output);
}

function commandSection({ name, summary, usage, description, options, inPlace, examples }) {
  const parts = [`### nexus ${name}`, `${summary[0].toUpperCase()}${summary.slice(1)}.`, fenced([usage], "text")];
  if (description) parts.push(description);
  if (options.length > 0) parts.push(optionTable(options));
  if (inPlace.length > 0) parts.push("In place of a configured server: `--stdio`, `--url`, `--header`, `--env`.");
  parts.push(
    fenced(
      examples.flatMap(({ command, meaning }) => [`# ${meaning}`, command]),
      "text",
    ),
  );
  return parts.join("\n\n");
}

function optionTable(options) {
  const rows = options.map(({ option, help }) => `| \`${escaped(option)}\` | ${escaped(help)} |`);
  return ["| option | what it does |", "|---|---|", ...rows].join("\n");
}

function fenced(lines, language) {
  return ["```" + language, ...lines, "```"].join("\n");
}

function escaped(text) {
  return text.replaceAll("|", "\\|");
}

function exitCodes() {
  const rows = [
    [0, "success"],
    [1, "a bug in Nexus"],
    [2, "wrong usage, or arguments that fail the tool's schema"],
    [3, "the configuration is invalid"],
    [4, "a server could not be started or reached, or went away; of several servers, some failed"],
    [5, "the server answered with an error, or the tool reported an error"],
    [6, "no such server, tool, resource, prompt or store"],
    [7, "timed out"],
    [8, "denied: credentials, permission, trust"],
    [9, "the server needs an answer and there is no terminal"],
    [10, "a store or a backup is damaged"],
    [130, "interrupted; 129 and 143: ended by SIGHUP and SIGTERM"],
  ];
  return ["| exit code | meaning |", "|---|---|", ...rows.map(([code, meaning]) => `| ${code} | ${meaning} |`)].join(
    "\n",
  );
}
