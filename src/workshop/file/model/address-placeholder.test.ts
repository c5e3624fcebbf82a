import { expect, test } from "vitest";
import { placeholderIn, surePlaceholderIn } from "./address-placeholder.ts";

test.each([
  ["https://{subdomain}.example.com/v1", "{subdomain}"],
  ["https://{{tenant}}.example.com", "{{tenant}}"],
  ["https://<your domain>/api", "<your domain>"],
  ["https://&lt;account&gt;.example.com", "<account>"],
  ["https://[account].example.com", "[account]"],
  ["https://api.example.com/[account]/v1", "[account]"],
  ["https://:tenant.example.com", ":tenant"],
  ["https://api.example.com/:tenant/v1", ":tenant"],
  ["https://$HOST/v1", "$HOST"],
  ["https://${HOST}/v1", "${HOST}"],
  ["https://%TENANT%.example.com", "%TENANT%"],
  ["https://api.example.com/%account%/v1", "%account%"],
  ["https://YOUR-DOMAIN/v1", "YOUR-DOMAIN"],
  ["https://your_account.example.com", "your_account"],
  ["https://yourcompany.example.com", "yourcompany"],
  ["https://MY-SHOP.example.com", "MY-SHOP"],
  ["https://my-store.example.com", "my-store"],
  ["https://xxx.example.com", "xxx"],
  ["https://ACCOUNT_NAME.example.com", "ACCOUNT_NAME"],
  ["https://account_name.example.com", "account_name"],
  ["https://TENANT.example.com", "TENANT"],
  ["https://__tenant__.example.com", "__tenant__"],
  ["https://api.example.com/__TENANT__/v1", "__TENANT__"],
  ["http://localhost/REPLACE_ME/", "REPLACE_ME"],
  ["https://user_server:8080/", "user_server"],
  ["https://subdomain.example.com", "subdomain"],
  ["https://….example.com", "…"],
  ["https://.../v1", "..."],
  ["https://.example.com", ".example.com"],
  ["https://api.example.com:PORT/v1", "PORT"],
  ["https://api.example.com:{port}/v1", "{port}"],
  ["http://localhost:REPLACE_WITH_ACTUAL_URL", "REPLACE_WITH_ACTUAL_URL"],
  ["https://api.example.com/{version}/", "{version}"],
  ["https://api.example.com/%7Bversion%7D/", "{version}"],
  ["https://api.example.com/ACCOUNT_ID/v1", "ACCOUNT_ID"],
  ["https://api.example.com/YOUR_ACCOUNT/v1", "YOUR_ACCOUNT"],
])("%s is not a complete address", (address, placeholder) => {
  expect(placeholderIn(address)).toBe(placeholder);
});

test.each([
  "https://api.example.com/v1/",
  "https://API.EXAMPLE.COM/REST/V2",
  "https://API.example.com/",
  "http://[::1]:8080/",
  "http://127.0.0.1:4010/a%20b/%C3%A4/",
  "https://myshopify.example/",
  "https://mydhl.example/",
  "https://shop.example.com/SOAP-Service/",
  "https://account.example.com/my-account/",
  "https://site.xxx/",
  "https://api-eu-1.example.com/A_B/",
  "https://user:pass@api.example.com/",
])("%s is a complete address", (address) => {
  expect(placeholderIn(address)).toBeUndefined();
});

test("a name that somebody may have is asked about, but can be approved", () => {
  for (const address of ["https://my-shop.example.com/", "https://my_store.example/", "http://user_server:8080/"]) {
    expect(placeholderIn(address)).toBeDefined();
    expect(surePlaceholderIn(address)).toBeUndefined();
  }
  for (const address of [
    "https://{shop}.example.com/",
    "https://your-shop.example.com/",
    "https://tenant_id.example.com/",
  ])
    expect(surePlaceholderIn(address)).toBeDefined();
});
