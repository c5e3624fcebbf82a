import { expect, test } from "vitest";
import { plainValue } from "../../source/source-node.ts";
import { missingPlace, refusedAnswer, withAnswer } from "./answer-question.ts";
import { readYaml } from "./model/read-yaml.ts";

const FILE = `# The shop.
nexus: 1
tools:
  find: # finds
    effect: write
    input: { type: Find }
questions:
  # first
  - about: tools.find.effect
    ask: Does it change anything?
    choices:
      - { answer: "no", set: [{ path: tools.find.effect, value: read }], default: true }
      - answer: "yes"
  - about: tools.find.input
    ask: Is the name
      required?
`;
const CHANGES = {
  about: "tools.find.effect",
  ask: "Does it change anything?",
  evidence: [],
  choices: [
    { answer: "no", set: [{ path: "tools.find.effect", value: "read" }], default: true },
    { answer: "yes", set: [] },
  ],
};
const REQUIRED = { about: "tools.find.input", ask: "Is the name required?", evidence: [] };

test("an answer that is a choice changes the file, and the question is removed", () => {
  for (const answer of ["no", " NO ", "1", "1)", "(1)", "1.", "#1", ""]) {
    const after = withAnswer(FILE, 0, { question: CHANGES, answer });
    expect(after).toContain("  find: # finds\n    effect: read\n");
    expect(after).not.toContain("Does it change");
    expect(after).toContain("Is the name");
    expect(readYaml(after).problems).toEqual([]);
  }
});

test("any other answer is a comment at its place, and the last question takes the list with it", () => {
  const once = withAnswer(FILE, 1, { question: REQUIRED, answer: "Yes,\nalways # really" });
  expect(once).toContain(
    "    # Is the name required? Answer: Yes, always # really\n    input: { type: Find }\nquestions:\n",
  );
  const twice = withAnswer(once, 0, { question: CHANGES, answer: "yes" });
  expect(twice).toContain("    # Does it change anything? Answer: yes\n    effect: write\n");
  expect(twice).not.toContain("questions");
});

test("a number, a yes or a typing mistake that is none of the choices is refused, and words of one's own are not", () => {
  expect(refusedAnswer(CHANGES, "7")).toBe("there are 2 choices, and 7 is none of them");
  for (const answer of ["0", "-1", "3)", "#3", "1234"])
    expect(refusedAnswer(CHANGES, answer)).toBe(`there are 2 choices, and ${answer} is none of them`);
  for (const answer of ["1", "2", "yes", "No", "", "only on Sundays"])
    expect(refusedAnswer(CHANGES, answer)).toBeUndefined();
  const kinds = { ...CHANGES, choices: ["write", "read"].map((answer) => ({ answer, set: [] })) };
  for (const answer of ["yes", "y", "no", "3"]) expect(refusedAnswer(kinds, answer)).toContain("none of");
  expect(refusedAnswer(kinds, "writ")).toContain('did you mean "write"?');
  expect(refusedAnswer(REQUIRED, "7")).toBeUndefined();
  const base = { ...kinds, about: "upstream.base" };
  expect(refusedAnswer(base, "https://shop.example/v2")).toBeUndefined();
});

test("an answer that would change a place that is gone names that place", () => {
  expect(missingPlace(FILE, CHANGES, "no")).toBeUndefined();
  const gone = { ...CHANGES, choices: [{ answer: "no", set: [{ path: "tools.lost.effect", value: "read" }] }] };
  expect(missingPlace(FILE, gone, "no")).toBe("tools.lost.effect");
  expect(missingPlace(FILE, gone, "something else")).toBeUndefined();
});

test("an answer about a place that is not in the file is a comment at its end", () => {
  const question = { ...REQUIRED, about: "types.Gone" };
  expect(withAnswer("nexus: 1\nquestions: [{ about: types.Gone, ask: x }]\n", 0, { question, answer: "no" })).toBe(
    "nexus: 1\n# types.Gone: Is the name required? Answer: no\n",
  );
});

test("an address is the answer to a question about the base address, also where it is allowed", () => {
  const file = `nexus: 1
upstream:
  base: https://api.example.invalid/
  allow: [https://api.example.invalid/, https://login.example/]
questions: [{ about: upstream.base, ask: What is the address? }]
`;
  const question = { about: "upstream.base", ask: "What is the address?", evidence: [] };
  expect(withAnswer(file, 0, { question, answer: "https://shop.example/v2" })).toBe(`nexus: 1
upstream:
  base: https://shop.example/v2/
  allow: [ https://shop.example/v2/, https://login.example/ ]
`);
  expect(withAnswer(file, 0, { question, answer: "ask Ada" })).toContain("# What is the address? Answer: ask Ada\n");
});

test("an answer that is YAML adds nothing to the file but a comment", () => {
  const plain = readYaml(withAnswer(FILE, 1, { question: REQUIRED, answer: "yes" })).tree;
  const answers = [
    "yes\nsecrets: { login: { bearer: key } }",
    "yes\r\n    effect: read",
    "yes\u2028upstream: { base: https://evil.example/ }",
    "yes\u0085tools: {}",
    "yes\u000b\u000ctools: {}\u0000",
    '"]}\n- about: x',
    "---\nnexus: 2\n...",
    "|\n  text",
    "&a *a !!js/function <<: {}",
  ];
  for (const about of ["tools.find.input", "nothing.there", ""]) {
    for (const answer of answers) {
      const after = withAnswer(FILE, 1, { question: { ...REQUIRED, about }, answer });
      const { tree, problems } = readYaml(after);
      expect(problems, answer).toEqual([]);
      expect(tree && plainValue(tree), answer).toEqual(plain && plainValue(plain));
      expect(after.split("\n")).toHaveLength(FILE.split("\n").length - 2);
    }
  }
});
