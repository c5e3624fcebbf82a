import type { Params } from "../../src/protocol/json-rpc.ts";
import type { Answer } from "../fixtures/gateway/wire.ts";
import { listedThing } from "./crossing-oracle.ts";
import { fullName, fullUri, pathOf, pick, type Step } from "./crossing-step.ts";
import { isSet, maySee, reachesSet, seesServer, tenantOf } from "./team-keys.ts";
import type { Thing } from "./team-servers.ts";
import type { TeamWorld } from "./team-world.ts";

/** Names that no tenant has, each as long and as far from others as the name it stands beside. */
const ABSENT: Readonly<Record<string, string>> = {
  support: "sapporx",
  finance: "finamce",
  docs: "dicx",
  old: "odx",
  vault: "vuilt",
  "default-only": "defaixt-only",
  "acme-only": "acxe-only",
  "beta-only": "bexa-only",
  look: "lxxk",
  secret: "sexrat",
  greet: "grxat",
  hush: "huxx",
  "note://own": "nxte://own",
  "note://secret": "nxte://secret",
};

type Ask = (step: Step, name: string, path?: string) => Promise<Answer>;

/** How each kind of thing is asked for. */
const KINDS: { kind: Thing["kind"]; names: string[]; method: string; params: (step: Step, name: string) => Params }[] =
  [
    {
      kind: "tool",
      names: ["look", "secret"],
      method: "tools/call",
      params: (step, name) => ({ name: fullName(step, name), arguments: {} }),
    },
    {
      kind: "prompt",
      names: ["greet", "hush"],
      method: "prompts/get",
      params: (step, name) => ({ name: fullName(step, name) }),
    },
    {
      kind: "prompt",
      names: ["greet", "hush"],
      method: "completion/complete",
      params: (step, name) => ({
        ref: { type: "ref/prompt", name: fullName(step, name) },
        argument: { name: "x", value: "" },
      }),
    },
    {
      kind: "resource",
      names: ["note://own", "note://secret"],
      method: "resources/read",
      params: (step, uri) => ({ uri: fullUri(step, uri) }),
    },
  ];

/** What tells a caller that something exists which it may not see: the answer differs from that for something absent. */
export async function differenceOfHidden(world: TeamWorld, step: Step): Promise<string | undefined> {
  const { caller, server, place } = step;
  const { kind, names, method, params } = pick(KINDS, step);
  const name = names[step.which % names.length] ?? "";
  const what = hiddenIn(step, { kind, name });
  if (what === undefined) return undefined;
  const hidden = what === "set" ? place : what === "server" ? server : name;
  const absent = ABSENT[hidden] ?? "";
  const ask: Ask =
    what === "server" && place === "alone" && step.choice % 5 === 0
      ? (each) => world.get(caller, `/servers/${each.server}/tools`)
      : (each, own, path = pathOf(each)) => world.post(caller, method, params(each, own), { path });
  const answers = [
    await ask(step, name),
    what === "set"
      ? await ask(step, name, `/sets/${absent}/mcp`)
      : await ask(what === "server" ? { ...step, server: absent } : step, what === "server" ? name : absent),
  ];
  for (const { text } of answers) {
    const hint = HINT.exec(text)?.[1];
    if (hint !== undefined && !maySee(caller, listedThing(step, kind, hint), place)) return `is pointed to ${hint}`;
  }
  const [one, other] = answers.map((answer) => shape(answer, [hidden, absent]));
  return one === other ? undefined : `${hidden} and ${absent} differ: ${one} and ${other}`;
}

/** What of a request the caller may not know of: the set, the server, or the thing itself. */
function hiddenIn(
  { caller, server, place }: Step,
  thing: Pick<Thing, "kind" | "name">,
): "set" | "server" | "name" | undefined {
  if (isSet(place) && !reachesSet(caller, place)) return "set";
  if (!seesServer(caller, server, place)) return "server";
  return maySee(caller, { tenant: tenantOf(caller) ?? "", server, ...thing }, place) ? undefined : "name";
}

/** Names something that the caller may see, which is near to one name and not to another. */
const HINT = /\. Did you mean \\"([^"\\]+)\\"\?/;

function shape({ status, headers, text }: Answer, names: readonly string[]): string {
  let body = text.replace(/"correlationId":"\w+"/, "").replace(HINT, "");
  for (const name of names) body = body.replaceAll(name, "NAME");
  return `${status} ${headers["content-type"]} ${body}`;
}
