import { NexusError } from "../../../errors/nexus-error.ts";
import type { ToolFile } from "../../file/model/tool-file.ts";
import type { Codec } from "../record/codec.ts";
import { decodeXml } from "./decode-xml.ts";
import { Deviations } from "../record/deviations.ts";
import { encodeXml } from "./encode-xml.ts";
import { Planner, type Notation, type Side } from "../record/planner.ts";
import { XmlReader } from "./read-xml.ts";
import { writeXml } from "./write-xml.ts";
import { unreadable } from "./xml-bytes.ts";
import { parseWirePath } from "../record/wire-path.ts";
import type { XmlElement } from "../record/xml-tree.ts";

const XML: Notation = { steps: parseWirePath, hasNamespaces: true };

export function xmlCodec(file: ToolFile, type: string, side?: Side): Codec {
  const plan = new Planner(file, XML, side).document(type);
  const prefixes = new Map(Object.entries(file.namespaces).map(([prefix, namespace]) => [namespace, prefix]));
  const { name, namespace } = plan.root;
  const reader = new XmlReader(prefixes);
  return {
    encode: (value) => {
      if (name === "") {
        throw new NexusError("CONFIG_INVALID", `The type ${type} does not say which element it is`, {
          hint: `Add "xml: { element: … }" to it.`,
        });
      }
      return writeXml(encodeXml(plan, value), prefixes);
    },
    decode: (body) => {
      const root = reader.read(body);
      if (name !== "" && (root.name !== name || root.namespace !== namespace)) {
        throw unreadable(`it is a ${described(root)}, expected ${described({ name, namespace })}`);
      }
      const found = new Deviations();
      const value = decodeXml(plan, root, found);
      return { value, deviations: found.all() };
    },
  };
}

function described({ name, namespace }: Pick<XmlElement, "name" | "namespace">): string {
  return namespace === "" ? `<${name}> without a namespace` : `<${name}> in the namespace ${namespace}`;
}
