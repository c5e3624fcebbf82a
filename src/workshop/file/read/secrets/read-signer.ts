import type { HmacSignerSpec, SignerSpec } from "../../model/tool-file.ts";
import { type Part, present } from "../../../../format/part.ts";
import { checkHeader, readSecretName } from "../secret-name.ts";

const KINDS = ["aws-sigv4", "hmac"];

/** The name of a signer of the program, or a built-in signer with its settings. */
export function readSigner(part: Part): string | SignerSpec | undefined {
  if (!part.isMap) return part.text();
  part.members(KINDS);
  const [kind, ...more] = part.entries();
  if (!kind || more.length > 0) part.error("must name one signer", `Known are ${KINDS.join(", ")}.`);
  if (part.has("hmac")) return readHmac(part.part("hmac"));
  return part.has("aws-sigv4") ? readAws(part.part("aws-sigv4")) : undefined;
}

function readAws(part: Part): SignerSpec {
  const required = ["service", "region", "accessKey", "secretKey"];
  part.members([...required, "sessionToken"], required);
  for (const place of ["service", "region"]) {
    const text = part.part(place).text();
    if (text !== undefined && !/^[a-z0-9][a-z0-9.-]*$/.test(text)) {
      part
        .part(place)
        .error(`"${text}" is not the code of a ${place}`, "Write it as in addresses, like s3 or eu-west-1.");
    }
  }
  return present({
    kind: "aws-sigv4" as const,
    service: part.part("service").text() ?? "",
    region: part.part("region").text() ?? "",
    accessKey: readSecretName(part.part("accessKey")) ?? "",
    secretKey: readSecretName(part.part("secretKey")) ?? "",
    sessionToken: readSecretName(part.part("sessionToken")),
  });
}

function readHmac(part: Part): HmacSignerSpec {
  part.members(["algorithm", "key", "id", "text", "encoding", "headers"], ["key", "text", "headers"]);
  const headers = part.part("headers").entries();
  for (const [header, text] of headers) checkHeader(text, header, "");
  if (part.part("headers").isMap && headers.length === 0) part.part("headers").error("names no header");
  return present({
    kind: "hmac" as const,
    algorithm: part.part("algorithm").choice(["sha256", "sha1", "sha512"]) ?? "sha256",
    key: readSecretName(part.part("key")) ?? "",
    id: readSecretName(part.part("id")),
    text: part.part("text").text() ?? "",
    encoding: part.part("encoding").choice(["hex", "base64"]) ?? "hex",
    headers: Object.fromEntries(headers.map(([header, text]) => [header, text.text() ?? ""])),
  });
}
