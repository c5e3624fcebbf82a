import type { AnyForm, Form, Given } from "../format/form.ts";
import type { Access, Actor } from "./actor.ts";
import type { Services } from "./services.ts";

/** A browser that has signed in. */
export interface BrowserSession {
  /** Sent with every request that changes something. */
  readonly csrfToken: string;
  /** It ends then at the latest, by `Date.now()`. */
  readonly until: number;
}

/** What is known of a request beside its input. */
export interface OperationCall {
  /** Undefined where no browser sent it. */
  readonly session?: BrowserSession | undefined;
  /** Aborted when nobody waits for the answer any more. */
  readonly signal: AbortSignal;
}

/** How an operation is asked for over HTTP. */
interface HttpForm<Path extends string = string> {
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** Below `/api/v1`, with parameters in braces. One that contains `{tenant}` is for those who may enter the tenant. */
  readonly path: Path;
  readonly status: 200 | 201 | 202 | 204;
  /** Where the answer is not JSON: lines of text, which are sent as they come. */
  readonly mediaType?: string;
  /** The longest body; undefined: as usual. */
  readonly maxBytes?: number;
  /** Statuses of failures that are particular to it. */
  readonly fails?: readonly number[];
}

/**
 * Something that an administrator does with a gateway: over HTTP, and by a command here or through a gateway. Routes, checks, the
 * OpenAPI document, the client and the records in the audit are made of it.
 */
export interface AnyOperation<S = Services, C = OperationCall> {
  /** Unique: `listKeys`. */
  readonly id: string;
  readonly tag: string;
  readonly summary: string;
  readonly description?: string;
  readonly access: Access;
  readonly http: HttpForm;
  /** The command that does it, without `nexus`; `{name}` stands for a member. Undefined: only browsers do it. */
  readonly command?: string;
  /** Whether it is only for the machine of the gateway itself: the REST API does not have it. */
  readonly isLocal?: boolean;
  /** Its members beside those in the path: the query of GET, otherwise the body. */
  readonly input?: AnyForm;
  readonly output?: AnyForm;
  /** Members of the answer that change by themselves: who changes something need not have seen them. */
  readonly volatile?: readonly string[];
  handle(services: S, actor: Actor, input: never, call: C): Promise<unknown>;
}

/** An operation with the types of what it takes and gives. */
export interface DefinedOperation<Path extends string, In, Out> extends AnyOperation {
  readonly http: HttpForm<Path>;
  readonly command: string;
  readonly input?: Form<In>;
  readonly output?: Form<Out>;
  handle(services: Services, actor: Actor, input: PathValues<Path> & In, call: OperationCall): Promise<Given<Out>>;
}

type Names<Path extends string> = Path extends `${string}{${infer Name}}${infer Rest}` ? Name | Names<Rest> : never;

/** The members that are in the path. */
type PathValues<Path extends string> = { readonly [Name in Names<Path>]: string };

/** What somebody gives who asks for it; members with a default may be missing. */
export type AskedInput<Path extends string, In> = PathValues<Path> & {
  readonly [Name in keyof In]?: Given<In[Name]> | undefined;
};

/** Gives `handle` the types of its input and of the answer. */
export function defineOperation<const Path extends string, In, Out>(
  operation: DefinedOperation<Path, In, NoInfer<Out>> & { readonly output?: Form<Out> },
): DefinedOperation<Path, In, Out> {
  return operation;
}

/** Whether requests of an operation are recorded. Signing out changes nothing that others use. */
export function isRecorded({ http: { method }, tag, access }: AnyOperation<never, never>): boolean {
  return method !== "GET" && access !== "public" && tag !== "session";
}
