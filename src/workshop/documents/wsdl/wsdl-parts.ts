import { dirname, join, sep } from "node:path";
import { pathInside, realPath } from "../../../files/paths.ts";
import { percentDecoded } from "../../../text/percent-decoded.ts";
import { utf8Text } from "../../../text/utf8-text.ts";
import { textInside } from "../bundle-files.ts";
import { unreadable } from "../parse-document.ts";
import type { PartSource } from "./bundle-wsdl.ts";

/** Files in the folder of a description. */
export function partsInFolder(path: string): PartSource {
  const folder = realPath(dirname(path));
  return {
    nameOf: (location, from) => {
      if (/^[a-z][a-z0-9+.-]+:/i.test(location)) return undefined;
      const file = join(dirname(from), percentDecoded(location.split("#", 1)[0] ?? "")).replaceAll(sep, "/");
      return pathInside(join(folder, file), folder) === undefined ? undefined : file;
    },
    read: async (file) => {
      const text = textInside(folder, join(folder, file));
      if (text === undefined)
        throw unreadable(`${file} is not beside the description`, "Put it there and import again.");
      return text;
    },
  };
}

/** Addresses at the host of a description, so that it cannot make requests to others. */
export function partsAtAddress(
  source: string,
  download: (url: string) => Promise<{ bytes: Uint8Array; from: string }>,
): PartSource {
  return {
    nameOf: (location, from) => {
      if (!URL.canParse(location, from)) return undefined;
      const url = new URL(location, from);
      return url.origin === new URL(source).origin ? url.href : undefined;
    },
    read: async (url) => {
      const { bytes, from } = await download(url);
      const text = utf8Text(bytes);
      if (text === undefined) throw unreadable(`${from} is not UTF-8 text`, "Save it as UTF-8.");
      return text;
    },
  };
}
