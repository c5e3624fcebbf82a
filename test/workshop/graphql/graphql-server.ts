import { createServer, type Server } from "node:http";
import { graphql, parse, validate, type GraphQLSchema } from "graphql";

/** A request as the server received it. */
export interface GraphqlRequest {
  url: string;
  query: string;
  operationName: string;
  variables: Record<string, unknown>;
}

/** A server that executes requests with the reference implementation, and keeps what is not valid. */
export class GraphqlServer implements AsyncDisposable {
  readonly requests: GraphqlRequest[] = [];
  /** What the schema does not allow in a request. */
  readonly invalid: string[] = [];
  readonly #server: Server;
  readonly origin: string;

  private constructor(server: Server, origin: string) {
    this.#server = server;
    this.origin = origin;
  }

  static async start(schema: GraphQLSchema, rootValue: object): Promise<GraphqlServer> {
    const server = createServer((request, response) => {
      const parts: Buffer[] = [];
      request.on("data", (part: Buffer) => parts.push(part));
      request.on("end", () => {
        const given = JSON.parse(Buffer.concat(parts).toString("utf8")) as Omit<GraphqlRequest, "url">;
        own.requests.push({ ...given, url: request.url ?? "" });
        for (const { message } of validate(schema, parse(given.query))) own.invalid.push(message);
        const { query, operationName, variables } = given;
        void graphql({ schema, source: query, rootValue, operationName, variableValues: variables }).then((result) => {
          const isRefused = !("data" in result);
          response.writeHead(isRefused ? 400 : 200, { "content-type": "application/graphql-response+json" });
          response.end(JSON.stringify(result));
        });
      });
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const address = server.address();
    const own = new GraphqlServer(
      server,
      typeof address === "object" && address ? `http://127.0.0.1:${address.port}/` : "",
    );
    return own;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}
