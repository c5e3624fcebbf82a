// What large answers cost: long lists beside JSON.parse alone, and results of growing size.
import { TOOLS } from "../servers/large.mjs";
import { profileWork } from "./profile.mjs";
import { startClient, startServer } from "./start.mjs";
import { medians, printTable, verdict } from "./table.mjs";

const VARIANTS = ["ours", "bare"];
const MODERN = { era: "modern", version: "2026-07-28" };
const PAGE_SIZES = [TOOLS, 1000];
const MEGABYTES = [1, 2, 4, 9];
/** CPU of a whole list at most so many times that of parsing its text; of a megabyte among nine, of one alone. */
const GOALS = { list: 1.5, growth: 1.3 };

export async function measureLists({ quick, profile, transport }) {
  const pace = quick ? { rounds: 2, calls: 3, warmUp: 3 } : { rounds: 7, calls: 5, warmUp: 15 };
  const rows = [];
  for (const way of waysOf(transport).filter(({ answers }) => answers !== "events")) {
    for (const pageSize of PAGE_SIZES) {
      const figures = await interleave({ ...way, pageSize, profile, pace }, ["list"], () => ({
        command: "measureList",
        argument: { calls: pace.calls, pageSize },
      }));
      if (figures) rows.push({ ...way, pageSize, ...figures.list });
    }
  }
  if (!profile) printLists(rows, pace);
}

export async function measureResults({ quick, profile, transport }) {
  const pace = quick ? { rounds: 3, calls: 2, warmUp: 3 } : { rounds: 9, calls: 5, warmUp: 10 };
  const rows = [];
  for (const way of waysOf(transport)) {
    const figures = await interleave({ ...way, pageSize: TOOLS, profile, pace }, MEGABYTES, (megabytes) => ({
      command: "measureResult",
      argument: { calls: pace.calls, bytes: megabytes * 1_000_000 },
    }));
    if (figures) rows.push({ ...way, figures });
  }
  if (!profile) printResults(rows, pace);
}

function waysOf(transport) {
  return [
    { transport: "stdio", answers: "lines" },
    { transport: "http", answers: "json" },
    { transport: "http", answers: "events" },
  ].filter((way) => transport === undefined || way.transport === transport);
}

/** The figures of each subject and variant, rounds interleaved; with `profile`, a profile of ours and no figures. */
async function interleave({ transport, answers, pageSize, profile, pace }, subjects, workOn) {
  const server = await startServer("large", transport, [pageSize]);
  const target = answers === "events" ? server.target.replace("/mcp", "/events") : server.target;
  const clients = [];
  try {
    for (const variant of VARIANTS) clients.push(await startClient(variant, { transport, ...MODERN, target }));
    for (const { tell } of clients) {
      for (const subject of subjects) {
        const { command, argument } = workOn(subject);
        await tell(command, { ...argument, calls: pace.warmUp });
      }
    }
    if (profile) {
      const work = workOn(subjects.at(-1));
      await profileWork(clients[0], work, [transport, answers, pageSize, work.command].join("-"));
      return undefined;
    }
    const figures = Object.fromEntries(subjects.map((subject) => [subject, { ours: [], bare: [] }]));
    for (let round = 0; round < pace.rounds; round++) {
      for (const subject of subjects) {
        for (let turn = 0; turn < clients.length; turn++) {
          const { variant, tell } = clients[(round + turn) % clients.length];
          const { command, argument } = workOn(subject);
          figures[subject][variant].push(await tell(command, argument));
        }
      }
    }
    return Object.fromEntries(
      subjects.map((subject) => {
        const { ours, bare } = figures[subject];
        return [subject, { ours: medians(ours), bare: medians(bare) }];
      }),
    );
  } finally {
    for (const { close } of clients) await close();
    await server.close();
  }
}

function printLists(rows, { rounds, calls }) {
  console.log(`\n${TOOLS} tools listed; the median of ${rounds} rounds of ${calls}. CPU beside JSON.parse of the same`);
  console.log("text in the same process.\n");
  printTable([
    ["", "", "CPU ms", "", "", "wall ms", "", "ours / JSON.parse", "ours / bare"],
    ["transport", "a page", "ours", "bare", "parse", "ours", "bare", "", ""],
    ...rows.map(({ transport, pageSize, ours, bare }) => [
      transport,
      pageSize,
      ...[ours.cpuMs, bare.cpuMs, ours.parseCpuMs].map((ms) => ms.toFixed(1)),
      ...[ours.wallMs, bare.wallMs].map((ms) => ms.toFixed(1)),
      verdict(ours.cpuMs / ours.parseCpuMs, "<=", GOALS.list, bare.cpuMs / bare.parseCpuMs),
      `${(ours.cpuMs / bare.cpuMs).toFixed(2)}x`,
    ]),
  ]);
}

function printResults(rows, { rounds, calls }) {
  const [least, most] = [MEGABYTES[0], MEGABYTES.at(-1)];
  console.log(`\nA result of one text; the median of ${rounds} rounds of ${calls}. The goal is for the cost of a`);
  console.log(`megabyte among ${most} beside one alone: linear is 1x.\n`);
  const growth = (figures, variant, cost) =>
    figures[most][variant][cost] / most / (figures[least][variant][cost] / least);
  printTable([
    ["", "", "", ...MEGABYTES.flatMap((each) => [`${each} MB`]), "growth"],
    ["transport", "answers", "ms", ...MEGABYTES.map(() => "ours (bare)"), ""],
    ...rows.flatMap(({ transport, answers, figures }) =>
      ["cpuMs", "wallMs"].map((cost) => [
        transport,
        answers,
        cost === "cpuMs" ? "CPU" : "wall",
        ...MEGABYTES.map((each) => `${figures[each].ours[cost].toFixed(1)} (${figures[each].bare[cost].toFixed(1)})`),
        verdict(growth(figures, "ours", cost), "<=", GOALS.growth, growth(figures, "bare", cost)),
      ]),
    ),
  ]);
}
