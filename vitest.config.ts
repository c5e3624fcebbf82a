import { configDefaults, defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";
import { isFull } from "./test/fixtures/depth.ts";

/** Soak tests, sweeps, bombs and installations: minutes of work that a change rarely breaks. CI runs them with NEXUS_TEST=full. */
const IN_CI = [
  "test/e2e/package.test.ts",
  "test/faults/faults.test.ts",
  "test/gateway/access/access-property.test.ts",
  "test/gateway/faults/faults-callers.test.ts",
  "test/gateway/faults/hostile-servers.test.ts",
  "test/recordings/access-answers.test.ts",
  "test/recordings/corpus-drafts.test.ts",
  "test/workshop/corpus/corpus.test.ts",
  "test/workshop/documents/bombs.test.ts",
  "test/workshop/documents/manual-bombs.test.ts",
  "test/workshop/documents/random-documents.test.ts",
  "test/workshop/documents/size-bombs.test.ts",
  "test/workshop/killed-steps.test.ts",
  "test/workshop/large-definitions.test.ts",
  "test/workshop/manual/any-text.test.ts",
  "test/workshop/stopped-writer.test.ts",
];

/** The files that take longest, the longest first. One of them that began last would run alone at the end. */
const LONGEST = [
  "test/gateway/processes.test.ts",
  "test/security/crossings.test.ts",
  "test/gateway/faults/faults-callers.test.ts",
  "test/workshop/documents/random-documents.test.ts",
  "test/workshop/corpus/corpus.test.ts",
  "test/faults/faults.test.ts",
  "test/workshop/killed-steps.test.ts",
  "test/gateway/access/access-property.test.ts",
  "test/e2e/package.test.ts",
  "test/matrix/matrix.test.ts",
  "test/cli/serve/serve.test.ts",
  "test/workshop/stopped-writer.test.ts",
  "test/host/recovery.test.ts",
  "test/e2e/robustness.test.ts",
  "test/e2e/error-texts.test.ts",
  "test/cli/call/call.test.ts",
  "test/interop/server-everything.test.ts",
  "test/cli/doctor.test.ts",
  "test/cli/call/questions.test.ts",
  "test/e2e/documents.test.ts",
  "test/recordings/person-commands.test.ts",
  "test/e2e/version-before.test.ts",
  "test/workshop/capcorn/capcorn-failures.test.ts",
  "test/host/stuck.test.ts",
  "test/cli/program.test.ts",
  "test/interop/other-clients.test.ts",
  "test/e2e/stdio-faults.test.ts",
  "test/cli/unseen.test.ts",
  "test/store/durability.test.ts",
  "test/gateway/faults/faults.test.ts",
  "test/interop/gateway-demo.test.ts",
  "test/host/host.test.ts",
  "test/gateway/fairness.test.ts",
];

// Node 20 reads these certificates each time it starts, which takes as long as all the rest; no test leaves this machine.
delete process.env["NODE_EXTRA_CA_CERTS"];

class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId }: TestSpecification) => {
      const at = LONGEST.findIndex((name) => moduleId.endsWith(name));
      return at === -1 ? LONGEST.length : at;
    };
    return (await super.sort(files)).toSorted((a, b) => rank(a) - rank(b));
  }
}

export default defineConfig({
  test: {
    include: ["src/**/*.test.ts", "test/**/*.test.ts"],
    exclude: [...configDefaults.exclude, ...(isFull ? [] : IN_CI)],
    globalSetup: ["test/setup.ts"],
    // Only what hangs takes this long. What is waited for comes at once on a quiet machine, and late on a busy one.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    expect: { poll: { timeout: 60_000 } },
    pool: "forks",
    // A process runs many files: to start one and load everything takes longer than most files.
    isolate: false,
    // Most tests wait for processes of theirs; more of them at a time than there are cores keep the cores busy. In a full run,
    // where each command line is a process of its own, fewer of them do.
    maxWorkers: isFull ? 4 : 6,
    // More threads than cores that collect garbage take processor time from each other.
    execArgv: ["--single-threaded-gc"],
    // A run of many minutes is not lost for one test that was disturbed; its report shows which one was repeated.
    retry: isFull ? 1 : 0,
    sequence: { sequencer: LongestFirst },
  },
});
