import type { ApiFacts, ResponseFacts } from "../api-facts.ts";
import { parseDocument, type LoadedDocument } from "../parse-document.ts";
import { readPostman } from "../postman/read-postman.ts";
import { readCurlCommand, type CurlRequest } from "../recorded/curl-request.ts";
import { collectionOf, requestItem } from "../recorded/curl-collection.ts";

/** What one curl command says, and the document that is kept of it: without the values of its credentials. */
interface CurlFacts {
  facts: ApiFacts;
  document: LoadedDocument;
}

/** Reads a curl command. `title`: the name of the API, which a command does not say. */
export function readCurl(command: string, title: string): CurlFacts {
  return requestFacts(readCurlCommand(command), title);
}

/** The same for a request that was read before. */
export function requestFacts(request: CurlRequest, title: string): CurlFacts {
  const text = JSON.stringify(curlCollection(request, title), undefined, 2);
  const document = parseDocument(`${text}\n`, "request");
  const facts = readPostman(document);
  // The name of the only request would be that of the API, which says nothing about it.
  for (const operation of facts.operations) {
    delete operation.id;
    operation.responses = [assumedAnswer(operation.evidence)];
  }
  const assumption = "The answer is assumed to be JSON: a command does not say what comes back.";
  const remarks = [...facts.remarks, { text: assumption, evidence: `${document.name}#/item/0` }];
  return { facts: { ...facts, format: "curl", remarks }, document };
}

function assumedAnswer(evidence: string): ResponseFacts {
  const content = { mediaType: "application/json", examples: [], encoding: {}, evidence };
  return { status: "200", contents: [content], headers: [], evidence };
}

/**
 * A command as a collection with one request. Credentials are replaced by variables, so that no value of one is in it:
 * it is kept beside the tool file.
 */
function curlCollection(request: CurlRequest, name: string): Record<string, unknown> {
  return collectionOf(name, [requestItem(request, { name })]);
}
