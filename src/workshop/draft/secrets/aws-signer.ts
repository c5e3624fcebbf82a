import type { SecuritySchemeFacts } from "../../documents/api-facts.ts";
import type { SignerSpec } from "../../file/model/tool-file.ts";

/** What most documents with signatures mean that do not say it. */
const SERVICE = "execute-api";
const REGION = "us-east-1";

interface AwsPlace {
  /** The addresses of the API, which often name the service and its region. */
  servers: readonly string[];
  ask: (question: string) => void;
}

/** The signer for requests to AWS. `name` begins the names of its secrets. */
export function awsSigner(
  facts: Extract<SecuritySchemeFacts, { kind: "aws-sigv4" }>,
  name: string,
  { servers, ask }: AwsPlace,
): SignerSpec {
  const host = awsHost(servers);
  const service = facts.service ?? host?.service;
  const region = facts.region ?? host?.region;
  if (service === undefined || region === undefined) {
    ask(
      `Requests are signed for the service ${service ?? SERVICE} in ${region ?? REGION}, because the document does not say which. Is that right?`,
    );
  }
  return {
    kind: "aws-sigv4",
    service: service ?? SERVICE,
    region: region ?? REGION,
    accessKey: `${name}-access-key`,
    secretKey: `${name}-secret-key`,
    ...(facts.hasSession ? { sessionToken: `${name}-session-token` } : {}),
  };
}

/** Service and region of an address of AWS: `abc.execute-api.eu-west-1.amazonaws.com`. */
function awsHost(servers: readonly string[]): { service: string; region: string } | undefined {
  for (const url of servers) {
    const host = URL.canParse(url) ? new URL(url).hostname : "";
    const [, service, region] =
      /(?:^|\.)([a-z0-9-]+)\.([a-z]{2}(?:-[a-z]+)+-\d)\.amazonaws\.com(?:\.cn)?$/.exec(host) ?? [];
    if (service !== undefined && region !== undefined) return { service, region };
  }
  return undefined;
}
