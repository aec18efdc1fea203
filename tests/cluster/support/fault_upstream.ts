// Asks the registry (and its token server) behind a fault proxy.
import type { IncomingHttpHeaders } from "node:http";

export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array<ArrayBuffer>;
}

export interface Question {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Uint8Array<ArrayBuffer>;
}

// Headers of one connection or of one encoding; they are made anew on each side.
const NOT_FORWARDED = [
  "connection",
  "content-length",
  "host",
  "keep-alive",
  "transfer-encoding",
  "content-encoding",
  "accept-encoding",
];

/** The connection pool to the registry. The realm of its challenges is led through the proxy, so that tokens are counted too. */
export class Upstream implements Disposable {
  readonly #url: string;
  readonly #proxyUrl: string;
  readonly #client: Deno.HttpClient;
  #realm: string | undefined;

  constructor({ url, caPem }: { readonly url: string; readonly caPem: string }, proxyUrl: string) {
    this.#url = url;
    this.#proxyUrl = proxyUrl;
    this.#client = Deno.createHttpClient({ caCerts: [caPem], http2: false, poolMaxIdlePerHost: 32 });
  }

  async ask({ method, path, headers, body }: Question): Promise<Answer> {
    const [pathname = "", query = ""] = path.split("?");
    const isToken = pathname === "/token" && this.#realm !== undefined;
    const url = isToken ? `${this.#realm}?${query}` : `${this.#url}${path}`;
    const response = await fetch(url, {
      method,
      headers: forwardable(Object.entries(headers)),
      redirect: "manual",
      client: this.#client,
      ...(body.length > 0 ? { body } : {}),
    });
    const answer = new Uint8Array(await response.arrayBuffer());
    const length = response.headers.get("content-length");
    return {
      status: response.status,
      headers: {
        ...Object.fromEntries(forwardable([...response.headers])),
        ...(method === "HEAD" && length !== null ? { "content-length": length } : {}),
        ...this.#renderChallenge(response.headers.get("www-authenticate")),
      },
      body: answer,
    };
  }

  #renderChallenge(challenge: string | null): Readonly<Record<string, string>> {
    if (challenge === null) return {};
    const realm = challenge.match(/^Bearer .*realm="([^"]+)"/i)?.[1];
    if (realm === undefined) return { "www-authenticate": challenge };
    this.#realm = realm;
    return { "www-authenticate": challenge.replace(realm, `${this.#proxyUrl}/token`) };
  }

  [Symbol.dispose](): void {
    this.#client.close();
  }
}

function forwardable(headers: readonly (readonly [string, string | string[] | undefined])[]): [string, string][] {
  return headers.flatMap(([name, value]) =>
    value === undefined || NOT_FORWARDED.includes(name) ? [] : [[name, String(value)] as [string, string]]
  );
}
