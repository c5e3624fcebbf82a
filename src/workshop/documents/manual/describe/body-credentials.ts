import { isCredentialName, isAccountName } from "../../../../masking/secret-names.ts";
import { addDoubt } from "../fields/apply-row.ts";
import { pathOf, type FieldNode } from "../fields/field-node.ts";
import type { Outline } from "../outline.ts";
import { looseName } from "../words.ts";
import { isAboutAccess } from "./credentials.ts";
import type { OperationDescription } from "./operation.ts";

const PASSWORD_NAMES = /^(?:pass(?:word|wd|wort|code)?|pwd|pin|auth_?(?:key|code)|kennwort)$/i;
/** What the operator has received, and no caller knows. */
const RECEIVED =
  /^(?:your|the) (?:\w+ ){0,3}(?:password|api[- ]?key|secret|token|pin|access key|user(?: ?name)?|login|account)\b|\bapi[- ]?key\b|\bcredentials?\b|\b(?:assigned|issued|provided|given)(?: to you)? by\b/i;
/** Requests whose purpose is the credentials themselves. */
const ABOUT_CREDENTIALS =
  /log_?-?(?:in|on)\b|sign_?-?(?:in|up)\b|password|register|authenticat|\busers?$|\bsessions?$|\btokens?$/i;

/** Marks the members of bodies that carry credentials: the operator stores them, and callers do not give them. */
export function markBodyCredentials(descriptions: readonly OperationDescription[], outline: Outline): void {
  const stated = statedMembers(outline);
  const bodies = descriptions
    .map((description) => ({ description, leaves: leavesOf(description.request.tree.root) }))
    .filter(({ leaves }) => leaves.length > 0);
  const counts = new Map<string, number>();
  for (const { leaves } of bodies)
    for (const name of new Set(leaves.map((leaf) => leaf.name))) counts.set(name, (counts.get(name) ?? 0) + 1);
  const isCommon = (name: string) => (counts.get(name) ?? 0) >= Math.max(2, bodies.length / 2);
  for (const { description, leaves } of bodies) {
    if (ABOUT_CREDENTIALS.test(description.endpoint.path)) continue;
    const isKnown = (leaf: FieldNode) =>
      stated.has(looseName(leaf.name)) || RECEIVED.test(leaf.description ?? "") || isCommon(leaf.name);
    const hidden = leaves.filter(({ name }) => isCredentialName(name) || PASSWORD_NAMES.test(name));
    const secrets = hidden.filter(isKnown);
    for (const leaf of secrets) leaf.secret = { name: leaf.name, isPublic: false };
    for (const leaf of hidden)
      if (!leaf.secret)
        addDoubt(
          leaf,
          `"${leaf.name}" may be a credential; callers give it. Should it be a secret of the server instead?`,
        );
    for (const leaf of leaves) {
      const isBeside = secrets.some(({ parent }) => parent === leaf.parent);
      if (!leaf.secret && isBeside && isAccountName(leaf.name) && isKnown(leaf))
        leaf.secret = { name: leaf.name, isPublic: true };
    }
  }
}

/** Single texts that are in the body once. */
function leavesOf(root: FieldNode): FieldNode[] {
  const found: FieldNode[] = [];
  const visit = (node: FieldNode) => {
    if (node.list || pathOf(node).length > 5) return;
    if (node.children.size === 0 && node !== root && (node.said.type ?? "string") === "string") found.push(node);
    for (const child of node.children.values()) visit(child);
  };
  visit(root);
  return found;
}

/** The names that sentences about access have in quotes: every message carries "user" and "password". */
function statedMembers(outline: Outline): Set<string> {
  return new Set(
    outline.blocks.flatMap(({ block, section }) =>
      (block.kind === "paragraph" || block.kind === "item") && isAboutAccess(section.title, block.text)
        ? [...block.text.slice(0, 2_000).matchAll(/[`"“]@?([\w.-]{2,40})[`"”]/g)].map(([, name = ""]) =>
            looseName(name),
          )
        : [],
    ),
  );
}
