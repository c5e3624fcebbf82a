import type { ApiFacts, DocumentFormat } from "../documents/api-facts.ts";
import { unreadable, type LoadedDocument } from "../documents/parse-document.ts";

/** What a document says, whatever its format. Each reader is loaded with the first document of its format. */
export async function factsOf(document: LoadedDocument): Promise<ApiFacts> {
  return (await readerOf(document.format))(document);
}

type Reader = (document: LoadedDocument) => ApiFacts | Promise<ApiFacts>;

async function readerOf(format: DocumentFormat): Promise<Reader> {
  switch (format) {
    case "openapi-2.0":
    case "openapi-3.0":
    case "openapi-3.1":
    case "openapi-3.2":
      return (await import("../documents/openapi/read-openapi.ts")).readOpenApi;
    case "postman-2":
      return (await import("../documents/postman/read-postman.ts")).readPostman;
    case "graphql":
    case "graphql-introspection":
      return (await import("../documents/graphql/read-graphql.ts")).readGraphql;
    case "markdown":
    case "html":
    case "text":
    case "pdf":
      return (await import("../documents/manual/read-manual.ts")).readManual;
    case "wsdl-1.1":
      return (await import("../documents/wsdl/read-wsdl.ts")).readWsdl;
    case "curl":
    case "har":
      throw unreadable(
        `Documents in the format ${format} cannot be imported`,
        "Write the tools by hand: nexus api new",
      );
  }
}
