import { expect, test } from "vitest";
import { isCredentialName, isSecretName, mayBeSecretName, partsOf } from "./secret-names.ts";

const SECRET = `password Password userPassword PASSWORD passwd passphrase pwd db_pwd passcode token Token accessToken
  access_token ACCESS_TOKEN refreshToken id_token api-token x-auth-token XAuthToken GITHUB_TOKEN usertoken jwt x-jwt
  subscription-key Ocp-Apim-Subscription-Key subscriptionKey apikey apiKey APIKey api_key X-API-Key OPENAI_API_KEY
  api_keys access_key aws_secret_access_key private_key privateKey secret client_secret clientSecret SECRET secrets
  secretKey shared_secret bearer bearerToken authorization Authorization Proxy-Authorization auth X-Auth credential
  credentials cookie Cookie Set-Cookie connection_string connectionString dsn DSN sas sas_token session_token
  AWS_SESSION_TOKEN pin pat otp cvv master_key signingKey`.split(/\s+/);

/** Hidden in commands, variables, headers and queries; kept in data. */
const PRIVATE = `key keys X-Key GITHUB_KEY ssh_key session sessionId JSESSIONID sid sig signature X-Amz-Signature hmac
  nonce csrf xsrf pass DB_PASS`.split(/\s+/);

const OPEN = `author Author authors authority authorName coauthor page_token pageToken nextPageToken next_page_token
  cursor nextCursor continuation_token syncToken sync_token tokens max_tokens maxTokens totalTokens prompt_tokens
  tokenize tokenizer keyboard keyword primary_key public_key publicKey foreign_key sort_key cacheKey idempotency-key
  Idempotency-Key secretary compass bypass passport passenger token_type tokenType token_endpoint tokenUrl
  password_file passwordUrl api_key_file key_path expires_in token_expiry has_password isSecret no-auth authUrl
  auth_method secretName PWD OLDPWD name user username id email monkey design assignment pinned spin pattern
  signal significant sassy dsnake Server`.split(/\s+/);

test.each(SECRET)("the value of %s is secret (X9)", (name) => {
  expect([isSecretName(name), mayBeSecretName(name)]).toEqual([true, true]);
});

test.each(PRIVATE)("the value of %s is not shown in commands and headers, and is shown in data (X9)", (name) => {
  expect([isSecretName(name), mayBeSecretName(name)]).toEqual([false, true]);
});

test.each(OPEN)("the value of %s is shown", (name) => {
  expect([isSecretName(name), mayBeSecretName(name)]).toEqual([false, false]);
});

test("a parameter of an API takes a credential only where its name says nothing else", () => {
  const all = ["api_key", "accessToken", "client_secret", "password", "session_password", "jwt"];
  expect(all.filter((name) => !isCredentialName(name))).toEqual([]);
  const none = ["session_token", "csrf_token", "cookie", "signature", "pin", "page_token", "author"];
  expect(none.filter(isCredentialName)).toEqual([]);
});

test("the words of a name are found in every spelling", () => {
  expect(partsOf("X-APIKey")).toEqual(["x", "api", "key"]);
  expect(partsOf("refreshToken2")).toEqual(["refresh", "token2"]);
  expect(partsOf("DB_PASSWORD")).toEqual(["db", "password"]);
});
