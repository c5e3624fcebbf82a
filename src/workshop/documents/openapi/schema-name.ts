import { unescapePart } from "../../../schema/pointer.ts";

const NAMED = /^(?:\/x-nexus-files\/[^/]+)?(?:\/components\/schemas|\/definitions|(?:\/.*)?\/\$defs)\/([^/]+)$/;
const IN_FILE = /^\/x-nexus-files\/(?:[^/]*~1)?([^/]+?)(?:\.[a-z]+)*$/i;
const MEMBER_OF_FILE = /^\/x-nexus-files\/[^/]+\/([^/]+)$/;

/** The name of a schema by its place: `Pet` of `/components/schemas/Pet` or of the file `schemas/Pet.yaml`. */
export function schemaName(pointer: string): string | undefined {
  const name = (NAMED.exec(pointer) ?? IN_FILE.exec(pointer) ?? MEMBER_OF_FILE.exec(pointer))?.[1];
  const text = name && unescapePart(name);
  return text === "" ? undefined : text;
}
