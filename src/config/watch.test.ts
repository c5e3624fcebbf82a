import { rename, rm, symlink } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { ConfigWorld } from "../../test/fixtures/config-world.ts";
import type { Configuration } from "./load.ts";
import { TRUST_EVERYTHING } from "./trust/trust-store.ts";
import { ConfigurationWatcher } from "./watch.ts";

/** Configurations as they come, to be waited for one by one. */
class Changes {
  readonly #waiting: ((commands: string[]) => boolean)[] = [];

  readonly onChange = ({ servers }: Configuration): void => {
    const commands = servers.map(({ entry }) => (entry?.reach.kind === "stdio" ? entry.reach.command : "?"));
    for (const check of this.#waiting.splice(0)) if (!check(commands)) this.#waiting.push(check);
  };

  /** Resolves with the first configuration that has these commands. */
  until(...wanted: string[]): Promise<void> {
    return new Promise((resolve) => {
      this.#waiting.push((commands) => {
        const matches = JSON.stringify(commands) === JSON.stringify(wanted);
        if (matches) resolve();
        return matches;
      });
    });
  }
}

test("P0: a new, changed, replaced or removed file causes a new configuration", async () => {
  await using world = await ConfigWorld.open();
  const changes = new Changes();
  const options = { ...world.options({ trust: TRUST_EVERYTHING }), quietMs: 5, onChange: changes.onChange };
  using _watcher = new ConfigurationWatcher(options);
  const file = "home/work/project/.nexus/mcp.json";
  const server = (command: string) => ({ mcpServers: { a: { command } } });

  const steps: [string[], () => Promise<unknown>][] = [
    // The folder .nexus is not there yet.
    [["one"], () => world.write(file, server("one"))],
    [["two"], () => world.write(file, server("two"))],
    [["three"], async () => rename(await world.write("next.json", server("three")), join(world.root, file))],
    [["three", "up"], () => world.write("home/work/.mcp.json", { mcpServers: { b: { command: "up" } } })],
    [["up"], () => rm(join(world.cwd, ".nexus"), { recursive: true })],
    [["four", "up"], () => world.write(file, server("four"))],
    [["five", "up"], () => world.write(file, server("five"))],
  ];
  for (const [commands, change] of steps) {
    const changed = changes.until(...commands);
    await change();
    await changed;
  }
});

test("P0: a watched explicit file that becomes invalid is reported, and read again when it is fixed", async () => {
  await using world = await ConfigWorld.open();
  const explicit = await world.write("my.json", { servers: { a: { command: "one" } } });
  let told: (configuration: Configuration) => void = () => {};
  const onChange = (configuration: Configuration) => told(configuration);
  using _watcher = new ConfigurationWatcher({ ...world.options({ explicit }), quietMs: 5, onChange });
  const when = (matches: (configuration: Configuration) => boolean) => {
    return new Promise<void>((resolve) => {
      told = (configuration) => matches(configuration) && resolve();
    });
  };

  const broken = when(({ files }) => files[0]?.problem?.message.startsWith("Not valid JSON") === true);
  await world.write("my.json", "{ broken");
  await broken;
  const mended = when(({ servers }) => servers[0]?.id === "b");
  await world.write("my.json", { servers: { b: { command: "two" } } });
  await mended;
});

test.skipIf(process.platform === "win32")(
  "P0: a file that is a link is watched where it leads, and followed when it leads elsewhere",
  async () => {
    await using world = await ConfigWorld.open();
    const server = (command: string) => ({ mcpServers: { a: { command } } });
    const link = join(world.cwd, ".mcp.json");
    await symlink(await world.write("dotfiles/mcp.json", server("one")), link);
    const changes = new Changes();
    const options = { ...world.options({ trust: TRUST_EVERYTHING }), quietMs: 5, onChange: changes.onChange };
    using _watcher = new ConfigurationWatcher(options);
    const steps: [string, () => Promise<unknown>][] = [
      ["two", () => world.write("dotfiles/mcp.json", server("two"))],
      [
        "three",
        async () => {
          await world.write("other/mcp.json", server("three"));
          await symlink(join(world.root, "other/mcp.json"), `${link}.new`);
          await rename(`${link}.new`, link);
        },
      ],
      ["four", () => world.write("other/mcp.json", server("four"))],
    ];
    for (const [command, change] of steps) {
      const changed = changes.until(command);
      await change();
      await changed;
    }
  },
);

test("a closed watcher reports nothing", async () => {
  await using world = await ConfigWorld.open();
  const closed = new ConfigurationWatcher({
    ...world.options(),
    quietMs: 0,
    onChange: () => expect.unreachable("it was closed"),
  });
  closed.close();
  const changes = new Changes();
  using _open = new ConfigurationWatcher({ ...world.options(), quietMs: 20, onChange: changes.onChange });
  const changed = changes.until("x");
  await world.write("home/work/project/.mcp.json", { mcpServers: { a: { command: "x" } } });
  await changed;
});
