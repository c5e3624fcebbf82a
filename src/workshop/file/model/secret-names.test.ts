import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { readToolFile } from "../read-tool-file.ts";
import { addressOfSecret, neededSecrets } from "./secret-names.ts";

function fileOf(change: (text: string) => string) {
  const text = readFileSync("examples/workshop/oauth.nexus.yaml", "utf8");
  const { file, problems } = readToolFile(change(text), "oauth.nexus.yaml");
  if (!file) throw new Error(JSON.stringify(problems));
  return file;
}

test("secrets of OAuth are needed, and sent to the token endpoint", () => {
  const file = fileOf((text) => text);
  expect(neededSecrets(file)).toEqual(["parcels.client-id", "parcels.client-secret"]);
  expect(addressOfSecret(file, "client-secret")).toBe("https://login.parcels.example/oauth/token");
});

test("secrets of signers and cookies are needed, and belong to the address of the requests", () => {
  const secrets =
    "cookies: { sid: session }, sign: { aws-sigv4: { service: s3, region: eu-west-1, accessKey: key-{number}, secretKey: secret } }";
  const file = fileOf((text) =>
    text
      .replace(/ {4}# Names[^]*?audience.*\n/, "")
      .replace("account:\n", `account: { ${secrets.replace("key-{number}", '"key-{number}"')} }\n`),
  );
  expect(neededSecrets(file, "post")).toEqual(["post.session", "post.key-{number}", "post.secret"]);
  expect(addressOfSecret(file, "key-AB123456")).toBe("https://api.parcels.example/v2/");
});
