import { createHash } from "node:crypto";
import { expect, test } from "vitest";
import { connect } from "../../src/index.ts";
import { ScriptedServer } from "../../src/testing/index.ts";
import { failure } from "../fixtures/failure.ts";
import { reach } from "../fixtures/reach.ts";

const MANIFEST = "---\nname: pdf\ndescription: Fills forms\ntags: [a, b]\n---\n\nBody.\n";
const FRONTMATTER = { name: "pdf", description: "Fills forms", tags: ["a", "b"] };
const digest = (text: string) => `sha256:${createHash("sha256").update(text).digest("hex")}`;

function serving(
  files: Record<string, string>,
  listed: Record<string, string> = files,
  frontmatter: object = FRONTMATTER,
) {
  const resources = Object.entries(listed).map(([uri, text]) => ({
    uri,
    digest: digest(text),
    size: Buffer.byteLength(text),
  }));
  return new ScriptedServer({ era: "modern", capabilities: { resources: {} } })
    .on("skills/list", () => ({ skills: [{ uri: "skill://pdf/SKILL.md", frontmatter, resources }] }))
    .on("resources/read", (params) => ({
      contents: [{ uri: params?.["uri"], text: files[String(params?.["uri"])] ?? "" }],
    }));
}

test("skills are listed without fetching a file, and checked when they are read", async () => {
  await using reached = await reach({ transport: "http", revision: "2026-07-28" });
  const [entry] = await reached.client.skills.list();
  if (!entry) throw new Error("no skill was listed");
  const skill = await reached.client.skills.load(entry);
  expect(skill.body).toContain("Read the text twice.");
  const rules = entry.resources?.[1]?.uri ?? "";
  expect(await skill.read(rules)).toMatchObject({ text: expect.stringContaining("# Rules") as string });

  const server = serving({ "skill://pdf/SKILL.md": MANIFEST });
  await using client = await connect(server.transport);
  await client.skills.list();
  expect(server.methods).not.toContain("resources/read");
});

test.each([
  ["size", MANIFEST + "more\n", MANIFEST, FRONTMATTER, "size"],
  ["digest", MANIFEST.replace("Body", "Evil"), MANIFEST, FRONTMATTER, "digest"],
  ["front matter", MANIFEST, MANIFEST, { ...FRONTMATTER, description: "Other" }, `front matter "description"`],
  [
    "a member the list does not have",
    MANIFEST,
    MANIFEST,
    { name: "pdf", description: "Fills forms" },
    `front matter "tags"`,
  ],
  ["no front matter at all", "Body.\n", "Body.\n", FRONTMATTER, `front matter "name"`],
])("a skill with another %s is refused", async (_case, served, listed, frontmatter, what) => {
  const uri = "skill://pdf/SKILL.md";
  const server = serving({ [uri]: served }, { [uri]: listed }, frontmatter);
  await using client = await connect(server.transport);
  const [entry] = await client.skills.list();
  if (!entry) throw new Error("no skill was listed");
  const error = await failure(client.skills.load(entry));
  expect(error).toMatchObject({ code: "PROTOCOL_VIOLATION", message: expect.stringContaining(what) as string });
});

test("only files of the skill are read through it, and each is checked", async () => {
  const files = { "skill://pdf/SKILL.md": MANIFEST, "skill://pdf/a.md": "A", "skill://pdf/b.md": "changed" };
  const server = serving(files, { ...files, "skill://pdf/b.md": "original" });
  await using client = await connect(server.transport);
  const [entry] = await client.skills.list();
  if (!entry) throw new Error("no skill was listed");
  const skill = await client.skills.load(entry);
  expect(await skill.read("skill://pdf/a.md")).toMatchObject({ text: "A" });
  expect(await failure(skill.read("skill://pdf/b.md"))).toMatchObject({ code: "PROTOCOL_VIOLATION" });
  expect(await failure(skill.read("file:///etc/passwd"))).toMatchObject({ code: "CONFIG_INVALID" });
});
