// A proxy between Archway and the API server that counts requests by what they are for, and the bytes of watches. Not
// cluster/support/api_proxy.ts: raw TLS connections have no TCP_NODELAY in Deno, and its 40 ms would be in every figure.
import { type HttpsListener, openHttpsListener } from "../../lib/server/https_listener.ts";
import type { LoopbackCertificates } from "../../playground/listen.ts";
import { type ClusterAccess, read, renderKubeconfig } from "../cluster/support/cluster_access.ts";

export interface ApiTraffic {
  /** By verb and resource: `PATCH pods`, `POST events`, `WATCH nodes`. */
  readonly requests: Readonly<Record<string, number>>;
  readonly watchedBytes: number;
  /** Of all other answers. */
  readonly answeredBytes: number;
}

export interface ApiCounter extends AsyncDisposable {
  readonly kubeconfigFile: string;
  traffic(): ApiTraffic;
  reset(): void;
}

/** Starts it; what the kubeconfig proves is passed on as it comes. */
export async function startApiCounter(
  cluster: ClusterAccess,
  options: { readonly kubeconfigFile: string; readonly certificates: LoopbackCertificates },
): Promise<ApiCounter> {
  const client = Deno.createHttpClient({ caCerts: [cluster.caPem], http2: false, poolMaxIdlePerHost: 64 });
  const counts = new Map<string, number>();
  let watchedBytes = 0;
  let answeredBytes = 0;
  const handler = async (request: Request): Promise<Response> => {
    const { pathname, search } = new URL(request.url);
    const kind = classify(request.method, pathname, search);
    counts.set(kind, (counts.get(kind) ?? 0) + 1);
    const answer = await fetch(`${cluster.url}${pathname}${search}`, {
      method: request.method,
      headers: withoutHost(request.headers),
      body: request.body === null ? null : await request.arrayBuffer(),
      client,
      signal: request.signal,
    });
    const headers = new Headers(answer.headers);
    for (const name of ["content-encoding", "content-length", "transfer-encoding"]) headers.delete(name);
    if (!kind.startsWith("WATCH")) {
      const body = await answer.arrayBuffer();
      answeredBytes += body.byteLength;
      return new Response(body, { status: answer.status, headers });
    }
    const counted = new TransformStream<Uint8Array, Uint8Array>({
      transform: (chunk, controller) => {
        watchedBytes += chunk.byteLength;
        controller.enqueue(chunk);
      },
    });
    return new Response(answer.body?.pipeThrough(counted) ?? null, { status: answer.status, headers });
  };
  const { serving, authority } = options.certificates;
  const listener = await openHttpsListener({ host: "127.0.0.1", port: 0, certificate: serving, handler });
  return {
    kubeconfigFile: await writeKubeconfig(options.kubeconfigFile, { listener, caPem: authority }),
    traffic: () => ({ requests: Object.fromEntries([...counts].sort()), watchedBytes, answeredBytes }),
    reset: () => {
      counts.clear();
      watchedBytes = 0;
      answeredBytes = 0;
    },
    [Symbol.asyncDispose]: async () => {
      await listener.close(0);
      client.close();
    },
  };
}

function withoutHost(headers: Headers): Headers {
  const passed = new Headers(headers);
  for (const name of ["host", "connection", "content-length"]) passed.delete(name);
  return passed;
}

async function writeKubeconfig(
  file: string,
  { listener, caPem }: { readonly listener: HttpsListener; readonly caPem: string },
): Promise<string> {
  const token = String(read(JSON.parse(await Deno.readTextFile(file)), "users", 0, "user", "token"));
  const counted = `${file}.counted`;
  const url = `https://127.0.0.1:${listener.port}`;
  await Deno.writeTextFile(counted, renderKubeconfig({ url, caPem }, { token }), { mode: 0o600 });
  return counted;
}

/** Verb and resource. Source: the paths of the Kubernetes API, `/apis/GROUP/VERSION[/namespaces/NS]/RESOURCE[/NAME]`. */
export function classify(method: string, path: string, search: string): string {
  const match = /^\/(?:api|apis\/[^/]+)\/v\w+(?:\/namespaces\/[^/]+(?=\/))?\/([^/]+)(\/[^/]+)?/.exec(path);
  const [, resource = "discovery", name] = match ?? [];
  if (method !== "GET") return `${method} ${resource}`;
  if (/[?&]watch=(1|true)\b/.test(search)) return `WATCH ${resource}`;
  return `${name === undefined ? "LIST" : "GET"} ${resource}`;
}
