/** Lets a person log in. Without it, a server that requires a login is an error. */
export interface LoginHandler {
  /** Prepares the address to which the authorization server sends the browser back. */
  openRedirect?(settings: RedirectSettings): Promise<LoginRedirect>;
  /** Shows the code of a device login; called once, before waiting for the person. */
  showDeviceCode?(code: DeviceCode): void;
}

export interface RedirectSettings {
  /** What the configuration asks for. */
  redirectUrl?: string | undefined;
  callbackPort?: number | undefined;
  /** Addresses of earlier registrations, which can be used again without another one. */
  registered: readonly string[];
}

export interface LoginRedirect extends AsyncDisposable {
  readonly uri: string;
  /** Shows the page of the authorization server; resolves with the URL to which the browser was sent back. */
  visit(page: URL, signal?: AbortSignal): Promise<URL>;
}

export interface DeviceCode {
  /** The page on which the code is entered. */
  verificationUri: string;
  /** The same with the code filled in, where the server offers it. */
  verificationUriComplete?: string | undefined;
  userCode: string;
  /** Milliseconds since 1970. */
  expiresAt: number;
}
