import { expect, test } from "vitest";
import { draftToolFile } from "../../draft/draft-tool-file.ts";
import { parseDocument } from "../parse-document.ts";
import { readPostman } from "../postman/read-postman.ts";

/** Too short to be recognised by its looks: only where it is tells that it is one. */
const SECRET = "hunter2x";
const BOT = "bot123456789:placeholder-of-a-bot-A1";
const HOOK = "T0pL4c3h0ld3R1h00K9x";
const AT = "https://api.shop.example";

const CURLS: Record<string, string> = {
  "a header of any scheme": `curl ${AT}/a -H 'Authorization: Custom ${SECRET}'`,
  "a proxy's header": `curl ${AT}/a -H 'Proxy-Authorization: Digest ${SECRET}'`,
  "a header for sessions": `curl ${AT}/a -H 'X-Session-Id: ${SECRET}' -H 'X-Auth: ${SECRET}'`,
  "cookies as a header and as an option": `curl ${AT}/a -H 'Cookie: sid=${SECRET}; theme=${SECRET}' -b 'x=${SECRET}'`,
  "a user in options and in the address": `curl -u me:${SECRET} --proxy-user p:${SECRET} https://me:${SECRET}@api.shop.example/a`,
  "short keys of the query": `curl '${AT}/a?key=${SECRET}&sig=${SECRET}&pwd=${SECRET}&session_token=${SECRET}'`,
  "a query made of data": `curl -G ${AT}/a -d api_key=${SECRET} --data-urlencode 'pass=${SECRET}'`,
  "a form": `curl ${AT}/a -d 'user=me&pin=${SECRET}&csrf_token=${SECRET}'`,
  "parts of a form": `curl ${AT}/a -F 'passphrase=${SECRET}' -F file=@a.txt`,
  "members of JSON": `curl ${AT}/a --json '{"credentials": {"user": "${SECRET}", "more": ["${SECRET}"]}, "refreshToken": "${SECRET}"}'`,
  "a number in JSON": `curl ${AT}/a --json '{"password": 77001177, "otp": 77001177}'`,
  "pairs of name and value in JSON": `curl ${AT}/a --json '{"settings": [{"name": "password", "value": "${SECRET}"}]}'`,
  "JSON inside of JSON": `curl ${AT}/a --json '{"variables": "{\\"password\\": \\"${SECRET}\\"}"}'`,
  "a body in XML": `curl ${AT}/a -H 'Content-Type: text/xml' -d '<login><Pwd>${SECRET}</Pwd><ApiKey>${SECRET}</ApiKey></login>'`,
  "variables of the shell": `PASS=${SECRET}\nexport MY_KEY="${SECRET}"\nBASE=https://me:${SECRET}@api.shop.example\ncurl "$BASE/a?k=$MY_KEY"`,
  "a comment": `# Bearer ${SECRET}, password: ${SECRET}\ncurl ${AT}/a`,
  "a token in the path": `curl ${AT}/${BOT}/send\ncurl ${AT}/hooks/${HOOK}`,
};

interface Recorded {
  url?: string;
  headers?: object[];
  postData?: object;
  answer?: unknown;
  answerHeaders?: object[];
}

const header = (name: string) => ({ name, value: SECRET });

const HARS: Record<string, Recorded> = {
  "headers of the request": { headers: ["Authorization", "X-Api-Key", "X-Anything"].map(header) },
  "cookies of the request": { headers: [{ name: "Cookie", value: `sid=${SECRET}; other=${SECRET}` }] },
  "the query": { url: `${AT}/a?access_token=${SECRET}&q=${SECRET}&code=${SECRET}` },
  "a user in the address": { url: `https://me:${SECRET}@api.shop.example/a` },
  "a token in the path": { url: `${AT}/${BOT}/send/${HOOK}` },
  "a body in JSON": {
    postData: { mimeType: "application/json", text: JSON.stringify({ password: SECRET, a: { b: [SECRET] } }) },
  },
  "a form": { postData: { mimeType: "application/x-www-form-urlencoded", text: `pin=${SECRET}` } },
  "a body of another kind": { postData: { mimeType: "text/xml", text: `<a>${SECRET}</a>` } },
  "cookies of the answer": { answerHeaders: [header("Set-Cookie"), header("X-Token")] },
  "values of the answer": { answer: { token: SECRET, list: [{ text: SECRET }, SECRET] } },
  "names in the answer": {
    answer: { sessions: { "sk_placeholder-hunter2x": { ok: true }, "hunter2x@shop.example": { ok: true } } },
  },
};

function harOf({
  url = `${AT}/a`,
  headers = [],
  postData,
  answer = { ok: true },
  answerHeaders = [],
}: Recorded): string {
  const content = { mimeType: "application/json", text: JSON.stringify(answer) };
  const request = { method: postData ? "POST" : "GET", url, headers, queryString: [], ...(postData && { postData }) };
  const response = { status: 200, headers: answerHeaders, cookies: answerHeaders, content };
  return JSON.stringify({ log: { version: "1.2", creator: { name: "x" }, entries: [{ request, response }] } });
}

const ALL = [
  ...Object.entries(CURLS).map(([name, text]) => [`${name} of a curl command`, text] as const),
  ...Object.entries(HARS).map(([name, recorded]) => [`${name} of a recording`, harOf(recorded)] as const),
];

test.each(ALL)("X5 a secret in %s is neither kept nor drafted", (_name, text) => {
  const document = parseDocument(text, "requests");
  const documents = { requests: { file: "requests.json", sha256: document.sha256 } };
  const draft = draftToolFile(readPostman(document), { api: "shop", documents });
  expect(draft.tools.length).toBeGreaterThan(0);
  for (const written of [document.text, draft.text, document.remarks.join("\n")]) {
    for (const secret of [SECRET, BOT, HOOK, "77001177"]) expect(written).not.toContain(secret);
  }
});
