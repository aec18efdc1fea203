// `archway index` as its users have it, within this process, and a plain relay in front of a registry that keeps what passes
// and answers in its stead.
import { systemClock } from "../../../lib/clock.ts";
import { runIndex } from "../../../lib/cli/index_command.ts";
import { parseConfig } from "../../../lib/config/parse.ts";
import type { CommandResult } from "../../support/archway_program.ts";
import type { RealRegistry } from "./registry.ts";

export async function archwayIndex(
  args: readonly string[],
  { showsProgress = false }: { readonly showsProgress?: boolean } = {},
): Promise<CommandResult> {
  const parsed = parseConfig(["index", ...args], { env: {}, readFile: Deno.readTextFileSync });
  if (parsed.kind !== "run") throw new Error(JSON.stringify(parsed));
  const written = { out: "", err: "" };
  const terminal = {
    out: (text: string) => void (written.out += text),
    err: (text: string) => void (written.err += text),
    color: false,
  };
  const { signal } = new AbortController();
  const deps = { terminal, clock: systemClock, userAgent: "archway/test", signal, showsProgress };
  const code = await runIndex(parsed.config, deps);
  return { code, stdout: written.out, stderr: written.err };
}

interface IndexReport {
  readonly outcome: string;
  readonly digest: string;
  readonly mediaType: string;
  readonly requests: number;
  readonly replaced?: unknown;
  readonly images: readonly {
    readonly digest: string;
    readonly copy: { readonly kind: string; readonly mounted: number; readonly copied: number; readonly bytes: number };
  }[];
  readonly entries: readonly { readonly digest: string }[];
}

/** What `-o json` says of a command that does its work. */
export async function indexReport(args: readonly string[]): Promise<IndexReport> {
  const { code, stdout, stderr } = await archwayIndex([...args, "-o", "json"]);
  if (code !== 0) throw new Error(`archway index ${args[0]} ends with ${code}: ${stderr}${stdout}`);
  return JSON.parse(stdout);
}

export interface PassedRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: Headers;
}

export interface PushRelay extends AsyncDisposable {
  readonly host: string;
  readonly requests: PassedRequest[];
  /** Answers instead of the registry; undefined lets the request pass. */
  intercept: (request: PassedRequest, body: ReadableStream<Uint8Array> | null) =>
    | Response
    | undefined
    | Promise<Response | undefined>;
  amend: (request: PassedRequest, response: Response) => Response;
  /** `PUT /v2/…` of everything that was written, uploads by their method alone. */
  writes(): readonly string[];
}

/** Starts one on loopback, without TLS. Bodies pass as they come. */
export function startPushRelay(registry: Pick<RealRegistry, "url" | "caPem">): PushRelay {
  const client = Deno.createHttpClient({ caCerts: [registry.caPem], http2: false });
  const requests: PassedRequest[] = [];
  const server = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen: () => {}, onError: () => new Response(null, { status: 502 }) },
    async (request) => {
      const { pathname, search } = new URL(request.url);
      const passed = { method: request.method, path: pathname + search, headers: request.headers };
      requests.push(passed);
      const instead = await relay.intercept(passed, request.body);
      if (instead !== undefined) {
        await request.body?.cancel().catch(() => {});
        return instead;
      }
      const { method, body } = request;
      const headers = new Headers(request.headers);
      headers.delete("host");
      const response = await fetch(registry.url + passed.path, { method, headers, body, client, redirect: "manual" });
      return relay.amend(passed, response);
    },
  );
  const relay: PushRelay = {
    host: `127.0.0.1:${server.addr.port}`,
    requests,
    intercept: () => undefined,
    amend: (_, response) => response,
    writes: () =>
      requests.filter(({ method }) => !["GET", "HEAD"].includes(method)).map(({ method, path }) =>
        path.includes("/blobs/uploads/") ? `${method} upload` : `${method} ${path}`
      ),
    [Symbol.asyncDispose]: async () => {
      await server.shutdown();
      client.close();
    },
  };
  return relay;
}

export function isIndexPush({ method, headers }: Pick<PassedRequest, "method" | "headers">): boolean {
  return method === "PUT" && /index|list/.test(headers.get("content-type") ?? "");
}

export function registryError(status: number, code: string, headers: Readonly<Record<string, string>> = {}): Response {
  return Response.json({ errors: [{ code, message: code.toLowerCase() }] }, { status, headers });
}
