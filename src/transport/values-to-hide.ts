import { decodeUtf8, fromBase64 } from "../text/bytes.ts";
import { percentDecoded } from "../text/percent-decoded.ts";
import { secretsInWords } from "../masking/mask-words.ts";
import { mayBeSecretName } from "../masking/secret-names.ts";
import { childEnvironment, isOwnVariable } from "../process/child-environment.ts";
import type { HttpReach, ResolvedEntry, StdioReach } from "./server-entry.ts";
import type { Surroundings } from "./surroundings.ts";

/** Variables and headers that configure a program: their values are not secret, and errors are often about them. */
const OPEN_NAMES =
  /^(?:node_env|node_path|pythonpath|pythonunbuffered|tz|pwd|port|host|debug|log_?level|accept|accept-language|content-type|user-agent|mcp-protocol-version)$/i;
/** Usual values that are not secret, and numbers. */
const OPEN_VALUES =
  /^(?:[\d.:]+|production|development|staging|testing|verbose|warning|critical|enabled|disabled|default|localhost|server|client|memory|sqlite|postgres|console|stdout|stderr)$/i;
const PATH = /^(?:~?[/\\]|[A-Za-z]:[/\\]|file:\/\/\/)/;
/** Shorter values occur in other texts by chance, and are masked only if their name says that they are secret. */
const SHORT = 6;
/** Short values that are never secret. */
const SWITCH = /^(?:\d{1,5}|true|false|yes|no|on|off|null|none|auto|info|debug)$/i;

/** The values of an entry that must not be seen: variables, headers, passwords and keys. */
export function valuesToHide({ id, reach }: ResolvedEntry, surroundings: Surroundings): string[] {
  if (reach.kind === "api") return [];
  const words = reach.kind === "stdio" ? [reach.command, ...reach.args] : [reach.url];
  const members = reach.kind === "stdio" ? variablesOf(reach, surroundings) : reach.headers;
  const values = [
    ...(reach.kind === "stdio" ? [] : oauthSecrets(reach)),
    ...secretsAmong(members),
    ...secretsInWords(words),
    ...words.flatMap(passwordInUrl),
  ];
  // A server's name is in every error about it.
  return values.flatMap(partsToHide).filter((value) => value !== id);
}

/** What is secret in the entry's `oauth` key. */
function oauthSecrets({ oauth }: HttpReach): string[] {
  const { clientSecret, privateKey, assertion, identityProvider } = oauth || {};
  const values = [clientSecret, privateKey, assertion, identityProvider?.clientSecret, identityProvider?.idToken];
  return values.filter((value) => value !== undefined);
}

/** The variables of the entry, and those of the user that it passes on. */
function variablesOf({ env, passthrough }: StdioReach, { variables, platform }: Surroundings): Record<string, string> {
  if (passthrough.length === 0 && Object.keys(env).length === 0) return {};
  const all = Object.entries(childEnvironment({ variables, platform, env, passthrough }));
  return Object.fromEntries(all.filter(([name]) => !isOwnVariable(name, platform)));
}

function secretsAmong(members: Readonly<Record<string, string>>): string[] {
  return Object.entries(members).flatMap(([name, value]) => {
    if (mayBeSecretName(name)) return SWITCH.test(value) ? [] : [value];
    const isOpen = value.length < SHORT || OPEN_NAMES.test(name) || OPEN_VALUES.test(value) || PATH.test(value);
    return isOpen ? [] : [value];
  });
}

/** Also the secret part of a longer value, because servers print it alone. */
export function partsToHide(value: string): string[] {
  const [, scheme, token] = /^(bearer|basic|token|dpop)\s+(\S+)$/i.exec(value) ?? [];
  const isBasic = scheme?.toLowerCase() === "basic" && token !== undefined;
  const pair = isBasic ? decodeUtf8(fromBase64(token)) : value;
  const passwords = [...passwordInUrl(value), ...passwordInPair(pair)];
  return [value, token, ...passwords]
    .filter((part) => part !== undefined)
    .flatMap((part) => [part, percentDecoded(part)]);
}

function passwordInUrl(text: string): string[] {
  return /^[a-z][\w+.-]*:\/\/[^/?#:@]*:([^/?#]+)@/i.exec(text)?.slice(1) ?? [];
}

/** The password of a pair; a shorter one may be a port. */
function passwordInPair(text: string): string[] {
  return /^[^\s:/]+:(?!\/\/)(\S{6,})$/.exec(text)?.slice(1) ?? [];
}
