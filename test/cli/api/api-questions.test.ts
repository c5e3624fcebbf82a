import { copyFile, mkdir } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import { NexusWorld } from "../../fixtures/nexus.ts";

const MUSEUM = fileURLToPath(new URL("../../../api/museum/", import.meta.url));
const FILE = "home/work/project/api/museum/museum.nexus.yaml";
const QUESTIONS = `questions:
  - about: version
    ask: Is this the version that is in use?
    evidence: L1
    choices:
      - { answer: "no", set: [{ path: version, value: "9.9" }] }
      - { answer: "yes", default: true }
  - { about: title, ask: Who uses it? }
  - { about: types.Gone, ask: What is it? }
`;

let world: NexusWorld;
beforeAll(async () => {
  world = await NexusWorld.open();
  const folder = join(world.project, "api", "museum");
  await mkdir(folder, { recursive: true });
  for (const name of ["museum.nexus.yaml", "manual.md"]) await copyFile(join(MUSEUM, name), join(folder, name));
  await world.write(FILE, `${await world.read(FILE)}${QUESTIONS}`);
});
afterAll(() => world[Symbol.asyncDispose]());

test("X5: nexus api questions lists what is open with quotes, and answers change the file or are kept as comments", async () => {
  const listed = await world.run(["api", "questions", "museum"]);
  expect(listed.code).toBe(0);
  expect(listed.stdout).toContain("1. version: Is this the version that is in use?\n   manual#L1: ");
  expect(listed.stdout).toContain("   1) no\n   2) yes (usual)\n");
  expect(listed.stdout).toMatch(/3 open questions\.\n$/);

  const checked = await world.run(["api", "check", "museum"]);
  expect(checked.stdout).toContain("questions[2].about: there is no types.Gone in this file");
  const hash = async () =>
    (JSON.parse((await world.run(["api", "check", "museum", "--json"])).stdout) as { hash: string }).hash;
  const before = await hash();

  const said = await world.run(["api", "questions", "museum", "--answer", "3=nothing"]);
  expect(said.stdout).toContain("The file has the answer to 3 as a comment; nothing else changed.");
  const noted = await world.run(["api", "questions", "museum", "--answer", "2=The front desk", "--json"]);
  expect(JSON.parse(noted.stdout)).toMatchObject({ answered: [2], questions: [{ number: 1, about: "version" }] });
  const text = await world.read(FILE);
  expect(text).toContain("# Who uses it? Answer: The front desk\ntitle: ");
  expect(text).toContain("# types.Gone: What is it? Answer: nothing\n");
  expect(await hash()).toBe(before);

  const changed = await world.run(["api", "questions", "museum", "--answer", "1=no"]);
  expect(changed.stdout).toMatch(/^1 question answered\. None is left\. Check the file/);
  expect(await world.read(FILE)).toMatch(/^version: "?9\.9"?$/m);
  expect(await world.read(FILE)).not.toContain("questions:");
  expect(await hash()).not.toBe(before);

  const none = await world.run(["api", "questions", "museum", "--answer", "1=no"]);
  expect(none).toMatchObject({ code: 2 });
  expect(none.stderr).toContain("There is no question 1");
});

test("answers that cannot be applied are refused and change nothing, and what became of the others is said", async () => {
  const file = "home/work/project/api/museum/museum.nexus.yaml";
  const before = await world.read(file);
  await world.write(file, `${before}${QUESTIONS}`);
  const asked = await world.read(file);
  const answer = (...answers: string[]) =>
    world.run(["api", "questions", "museum", ...answers.flatMap((each) => ["--answer", each])]);

  for (const [answers, words] of [
    [["1=7"], "there are 2 choices, and 7 is none of them"],
    [["2=The desk", "1=3"], "Choose one of: 1) no, 2) yes."],
    [["1=no", "1=yes"], "Question 1 has two answers"],
    [["4=no"], "There is no question 4"],
    [["1"], "is not a number and an answer"],
  ] as const) {
    const refused = await answer(...answers);
    expect(refused.code, answers.join()).toBe(2);
    expect(refused.stderr).toContain(words);
    expect(await world.read(file)).toBe(asked);
  }

  await world.write(file, asked.replace('value: "9.9"', `value: ${/^version: (.*)$/m.exec(before)?.[1] ?? ""}`));
  const same = await answer("1=1", "2=The desk");
  expect(same.stdout).toContain("The file has the answer to 2 as a comment; nothing else changed.");
  expect(same.stdout).toContain("The file already says what 1 was answered with; only the question was removed.");
  await world.write(file, before);
});

const KIOSK = `# Kiosk API

## Print a ticket

POST /print

| Field | Type | M/C/O | Description |
|---|---|---|---|
| copies | integer | M | 1 to 5 |
| reason | string | C | Needed if copies is above 1 |
`;

test("X5 X13: a draft without an address is not approved, and answers to its questions change the file", async () => {
  await world.write("home/work/project/kiosk.md", KIOSK);
  const imported = await world.run(["api", "import", "kiosk.md", "--name", "kiosk"]);
  expect(imported.code).toBe(0);
  const file = "home/work/project/kiosk.nexus.yaml";

  const refused = await world.run(["api", "approve", "kiosk", "--yes"]);
  expect(refused.code).toBe(3);
  expect(refused.stderr).toContain("has no address of the API yet: upstream.base is https://api.example.invalid/");
  expect(refused.stderr).toContain('Give it with "nexus api questions kiosk --answer 1=https://…", then approve it.');

  const { questions } = JSON.parse((await world.run(["api", "questions", "kiosk", "--json"])).stdout) as {
    questions: { number: number; about: string }[];
  };
  const numberOf = (place: string) => questions.find(({ about }) => about.endsWith(place))?.number ?? 0;
  const before = await world.read(file);
  const wrong = await world.run(["api", "questions", "kiosk", "--answer", `${numberOf("upstream.base")}=kiosk`]);
  expect(wrong.code).toBe(2);
  expect(wrong.stderr).toContain("is not an address: kiosk");
  expect(await world.read(file)).toBe(before);
  const answers = [
    `${numberOf("upstream.base")}=https://kiosk.example/v1`,
    `${numberOf(".reason")}=required`,
    `${numberOf(".effect")}=read`,
  ];
  const answered = await world.run(["api", "questions", "kiosk", ...answers.flatMap((each) => ["--answer", each])]);
  expect(answered.stdout).toMatch(/^3 questions answered\./);
  const text = await world.read(file);
  expect(text).toContain("base: https://kiosk.example/v1/\n");
  expect(text).toMatch(/reason: .*optional: false/);
  expect(text).toContain("effect: read\n");
  expect(await world.run(["api", "approve", "kiosk", "--yes"])).toMatchObject({ code: 0 });
});

test("X8: an address with a part to fill in is neither approved, nor an answer, nor a base address", async () => {
  await world.write(
    "home/work/project/tenant.md",
    "# Tenant API\n\nBase URL: https://{tenant}.example.com\n\nGET /orders\n",
  );
  const given = await world.run(["api", "import", "tenant.md", "--base", "https://{tenant}.example.com"]);
  expect(given.code).toBe(2);
  expect(given.stderr).toContain("has a part to fill in: {tenant}");

  expect((await world.run(["api", "import", "tenant.md", "--name", "tenant"])).code).toBe(0);
  const refused = await world.run(["api", "approve", "tenant", "--yes"]);
  expect(refused.code).toBe(3);
  expect(refused.stderr).toContain("upstream.base is https://api.example.invalid/");
  const answered = await world.run(["api", "questions", "tenant", "--answer", "1=https://your-tenant.example.com"]);
  expect(answered.code).toBe(2);
  expect(answered.stderr).toContain("still has a part to fill in, your-tenant");

  const file = "home/work/project/tenant.nexus.yaml";
  const text = await world.read(file);
  await world.write(file, text.replace("https://api.example.invalid/", "https://{tenant}.example.com/"));
  const edited = await world.run(["api", "approve", "tenant", "--yes"]);
  expect(edited.code).toBe(3);
  expect(edited.stderr).toContain("has an address with a part to fill in, {tenant}: upstream.base");
});
