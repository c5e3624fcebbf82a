/** The answer to a request. */
export interface FakeReply {
  status: number;
  type: string;
  body: string | Uint8Array;
  headers?: Record<string, string>;
  /** The format of the body, if it is a document of the file. */
  as?: "xml" | "json";
}
