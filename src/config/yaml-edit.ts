import { parseDocument } from "yaml";
import type { Change } from "./change.ts";

/** Changes a YAML text; comments, order and blank lines stay. */
export function editYaml(text: string, changes: readonly Change[]): string {
  const document = parseDocument(text, { merge: true });
  for (const { path, value } of changes) {
    if (value === undefined) document.deleteIn(path);
    else document.setIn(path, document.createNode(value));
  }
  return document.toString({
    lineWidth: 0,
    flowCollectionPadding: /[[{] /.test(text),
    // A list below a key is indented or not; both are common.
    indentSeq: !/^( *)[^\s#-][^\n]*:[^\S\n]*\n(?:\s*#[^\n]*\n)*\1- /m.test(text),
  });
}
