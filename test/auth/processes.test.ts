import { once } from "node:events";
import { join } from "node:path";
import { expect, test } from "vitest";
import { FileCredentials } from "../../src/auth/oauth/credential-files.ts";
import { AuthWorld } from "../fixtures/auth/auth-world.ts";
import { NexusWorld, type Ran } from "../fixtures/nexus.ts";

const AUTH_EXIT = 8;
/** The folder of the logins is that of Linux and other systems with XDG variables. */
const posix = test.runIf(process.platform !== "win32" && process.platform !== "darwin");

/** A person who has logged in to the protected server, and whose access token has just ended. */
async function loggedIn(world: AuthWorld, nexus: NexusWorld): Promise<FileCredentials> {
  await nexus.configure({ notes: { url: world.server.url } });
  const stateFolder = join(nexus.home, ".local", "state", "nexus");
  const storage = new FileCredentials({ stateFolder, platform: process.platform });
  const { tokens } = await world.credentials({}, { storage }).login();
  world.server.refused.add(tokens?.accessToken ?? "");
  return storage;
}

/** A process that calls the tool; `ended` resolves when it is over. */
function callTool(nexus: NexusWorld, text: string) {
  const { child, output } = nexus.start(["mcp", "call", "notes.echo", "--arg", `text=${text}`]);
  child.stdin?.end();
  const ended = once(child, "close").then(([code]): Ran => ({ code: code as number | null, ...output }));
  return { child, ended };
}

/** Resolves when the process has caused the event; fails if it ends before. */
async function until(event: Promise<void>, { ended }: ReturnType<typeof callTool>): Promise<void> {
  const early = ended.then(({ code, stderr }) => {
    throw new Error(`The process ended with ${code}: ${stderr}`);
  });
  await Promise.race([event, early]);
}

/** Holds the answers to token requests until they are released; `reached` resolves when the first is there. */
function holdAnswers(world: AuthWorld) {
  let release = () => {};
  const released = new Promise<void>((resolve) => (release = resolve));
  const reached = new Promise<void>((resolve) => {
    world.authorization.onAnswer.set("/token", async () => {
      resolve();
      await released;
    });
  });
  return {
    reached,
    release: () => {
      world.authorization.onAnswer.delete("/token");
      release();
    },
  };
}

posix("N3: two processes whose token has ended share one refresh, and the grant stays valid", async () => {
  await using world = await AuthWorld.open();
  await using nexus = await NexusWorld.open();
  const storage = await loggedIn(world, nexus);
  const answers = holdAnswers(world);

  const one = callTool(nexus, "one");
  await until(answers.reached, one);
  const refused = world.server.answered(401);
  const two = callTool(nexus, "two");
  await expect.poll(() => world.server.answered(401)).toBeGreaterThan(refused);
  answers.release();

  expect(await one.ended).toMatchObject({ code: 0, stdout: expect.stringContaining("one") as string });
  expect(await two.ended).toMatchObject({ code: 0, stdout: expect.stringContaining("two") as string });
  expect(world.authorization.refreshes).toBe(1);
  // The second use of a refresh token would have ended the grant.
  world.server.refused.add((await storage.load(world.server.url))?.tokens?.accessToken ?? "");
  expect((await callTool(nexus, "three").ended).code).toBe(0);
  expect(world.authorization.refreshes).toBe(2);
});

posix(
  "N3: a process that is killed before its refresh arrives costs nothing; the next one takes over its lock",
  async () => {
    await using world = await AuthWorld.open();
    await using nexus = await NexusWorld.open();
    await loggedIn(world, nexus);
    const reached = new Promise<void>((resolve) => {
      world.authorization.instead.set("/token", () => {
        resolve();
        return true;
      });
    });

    const killed = callTool(nexus, "one");
    await until(reached, killed);
    killed.child.kill("SIGKILL");
    await killed.ended;
    world.authorization.instead.clear();

    expect(await callTool(nexus, "two").ended).toMatchObject({ code: 0 });
  },
);

posix("N3: a process that is killed after it stored the new tokens loses nothing", async () => {
  await using world = await AuthWorld.open();
  await using nexus = await NexusWorld.open();
  await loggedIn(world, nexus);
  const reached = new Promise<void>((resolve) => {
    world.server.instead = () => {
      if (world.authorization.refreshes === 0) return false;
      resolve();
      return true;
    };
  });

  const killed = callTool(nexus, "one");
  await until(reached, killed);
  killed.child.kill("SIGKILL");
  await killed.ended;
  world.server.instead = undefined;

  expect(await callTool(nexus, "two").ended).toMatchObject({ code: 0 });
  expect(world.authorization.refreshes).toBe(1);
});

posix("N3: if the answer to a refresh was lost with its process, the next one says how to log in again", async () => {
  await using world = await AuthWorld.open();
  await using nexus = await NexusWorld.open();
  await loggedIn(world, nexus);
  const answers = holdAnswers(world);

  const killed = callTool(nexus, "one");
  await until(answers.reached, killed);
  killed.child.kill("SIGKILL");
  await killed.ended;
  answers.release();
  const { code, stderr } = await callTool(nexus, "two").ended;

  expect(code).toBe(AUTH_EXIT);
  expect(stderr).toContain("nexus mcp login notes");
  const shown = [...world.authorization.secrets].filter((secret) => stderr.includes(secret));
  expect(shown).toEqual([]);
});
