import { expect, test } from "vitest";
import { maskProse } from "./find-secrets.ts";
import { maskCommand, maskUrl } from "./mask-words.ts";

test.each([
  ["node server.js --port 80", "node server.js --port 80"],
  ["x --token abc --api-key=abc y", "x --token ••• --api-key=••• y"],
  ["docker run -e GITHUB_TOKEN=abc image", "docker run -e GITHUB_TOKEN=••• image"],
  ["x --header 'Authorization: Bearer abc' y", "x --header 'Authorization: •••' y"],
  ["x --header Authorization: Bearer abc --mode z", "x --header Authorization: ••• ••• --mode z"],
  [`x --token "a b" 'c d'`, "x --token ••• 'c d'"],
  [`sh -c "x --token abc" y`, `sh -c "x --token •••" y`],
  [`"x --token abc"`, `"x --token •••"`],
  [`'a b'c"d e`, `'a b'c"d e`],
  ["x --token ${secret:t}", "x --token ${secret:t}"],
  ["npx mcp-remote https://u:abc@a.example/?key=abc", "npx mcp-remote https://•••@a.example/?key=•••"],
  ["it's unclosed  --token abc", "it's unclosed  --token •••"],
])("%s is shown as %s (X9)", (line, shown) => {
  expect(maskCommand(line)).toBe(shown);
});

test("user, password and query values of a URL are masked", () => {
  expect(maskUrl("https://user:abc@a.example/mcp?key=abc#x")).toBe("https://•••@a.example/mcp?key=•••#x");
  expect(maskUrl("https://a.example/mcp?…")).toBe("https://a.example/mcp?…");
});

test.each([
  ["The token Bearer abc.123-xyz has expired", "The token Bearer ••• has expired"],
  ["invalid_token: The access token expired", "invalid_token: The access token expired"],
  ["Basic authentication required", "Basic authentication required"],
  [`{"apiKey":"k-123456","why":"unknown"}`, `{"apiKey":"•••","why":"unknown"}`],
  ["no such key abcdefghijkl0123456789mnop", "no such key •••"],
  ["see https://a.example/login?code=abc", "see https://a.example/login?code=•••"],
  ["problem: token=abc123 of author=ada123", "problem: token=••• of author=ada123"],
])("what a server says is shown without what looks like a credential: %s (P1.9, R8)", (text, shown) => {
  expect(maskProse(text)).toBe(shown);
});

test.each([
  ["x --jwt abc --subscription-key abc --author Ada", "x --jwt ••• --subscription-key ••• --author Ada"],
  [
    "x --max-tokens 500 --page-token p1 --authority https://a.example",
    "x --max-tokens 500 --page-token p1 --authority https://a.example",
  ],
  [
    "x --passphrase abc --sig=abc --key abc --primary-key id",
    "x --passphrase ••• --sig=••• --key ••• --primary-key id",
  ],
  ["x --dsn postgres://ada:abc@db.example/x", "x --dsn •••"],
  ["x postgres://ada:abc@db.example/x?sslmode=abc", "x postgres://•••@db.example/x?sslmode=•••"],
  ["x DATABASE_URL=postgres://ada:abc@db.example/x", "x DATABASE_URL=postgres://•••@db.example/x"],
  ["x --url=https://ada:abc@a.example/mcp", "x --url=https://•••@a.example/mcp"],
  ["git clone ssh://git@a.example/x.git", "git clone ssh://git@a.example/x.git"],
  ["docker run --env=API_KEY=abc --env=TZ=UTC -e=PIN=abc x", "docker run --env=API_KEY=••• --env=TZ=UTC -e=PIN=••• x"],
  [
    `x --header='Authorization: Bearer abc' "--header=X-Api-Key: abc" --header=Accept:text`,
    `x --header='Authorization: •••' "--header=X-Api-Key: •••" --header=Accept:text`,
  ],
  [
    "x --opts user=ada,token=abc,mode=z --with=a,${B:-abc} --set=user=ada,pin=abc",
    "x --opts user=ada,token=•••,mode=z --with=a,${B:-•••} --set=user=ada,pin=•••",
  ],
  ["x --header=Authorization: Bearer abc --mode z", "x --header=Authorization: ••• ••• --mode z"],
  ["x --db 'Server=db;User=ada;Password=abc;Port=1'", "x --db Server=db;User=ada;Password=•••;Port=1"],
])("the words of %s are shown as %s (X9)", (line, shown) => {
  expect(maskCommand(line)).toBe(shown);
});
