// Sends a request to an endpoint: when its turn at the host comes, in the way to connect that works there. The ways are each
// client certificate, and plain HTTP after TLS; the one that worked is first.
import { LRUCache } from "lru-cache";
import { InspectionError } from "../errors.ts";
import type { RequestLimiter } from "../limits/request_limiter.ts";
import type { ClientCertificate, Endpoint, EndpointTransport } from "../pull_plan.ts";
import type { InspectionContext } from "../request_log.ts";
import type { RegistryRequest, RegistryResponse } from "./exchange.ts";
import type { Transport } from "./transport.ts";

interface EndpointRequest {
  readonly endpoint: Endpoint;
  readonly context: Pick<InspectionContext, "callers" | "log">;
  readonly message: Omit<RegistryRequest, "url" | "transport" | "headers" | "callers" | "requestLog">;
  readonly urlBy: (scheme: ConnectionWay["scheme"]) => URL;
  readonly signal: AbortSignal;
  /** The registry counts the requests of one login, and of none, together. */
  readonly account: string;
  /** Empty: the registry itself. What is known of one repository must not stand in the way of others. */
  readonly repository: string;
}

interface ConnectionWay {
  readonly scheme: "https" | "http";
  readonly certificate: ClientCertificate | undefined;
}

const MAX_HOSTS = 2_000;
/** An insecure registry may get a certificate one day, and a strict one another authority (ms). */
const LIFE_MS = 600_000;

/** What servers answer to a certificate that they do not accept: nginx says 400 (or 495, 496), others 403. */
const CERTIFICATE_REFUSALS: readonly number[] = [400, 403, 495, 496];

export class Connections {
  readonly #transport: Transport;
  readonly #limiter: RequestLimiter;
  // With another ttlResolution the cache keeps a timer instead of reading the clock.
  readonly #learned = new LRUCache<string, ConnectionWay>({ max: MAX_HOSTS, ttl: LIFE_MS, ttlResolution: 0 });

  constructor(transport: Transport, limiter: RequestLimiter) {
    this.#transport = transport;
    this.#limiter = limiter;
  }

  /** Waits for its turn, and waits out short pauses that the host requests. Throws InspectionError when no whole answer comes. */
  async send(request: EndpointRequest): Promise<RegistryResponse> {
    const { endpoint: { host }, context: { callers }, message: { method }, account, repository, signal } = request;
    const limited = { host, repository, method, account, callers, signal };
    return await this.#limiter.run(limited, () => this.#tryEachWay(request));
  }

  /** The transport of the way to try first, for another request that belongs to the same host. */
  transportTo(endpoint: Endpoint): EndpointTransport {
    return transportOf(this.#inOrder(endpoint)[0], endpoint);
  }

  /** Sends in one way after the other until one works; the result of the last one counts. */
  async #tryEachWay({ endpoint, context, message, urlBy, signal }: EndpointRequest): Promise<RegistryResponse> {
    const { host, headers } = endpoint;
    const common = { ...message, headers, callers: context.callers, requestLog: context.log };
    const ways = this.#inOrder(endpoint);
    let failure: unknown;
    for (const [at, way] of ways.entries()) {
      try {
        const exchange = { ...common, url: urlBy(way.scheme), transport: transportOf(way, endpoint) };
        const answer = await this.#transport.send(exchange, signal);
        const isRefused = way.certificate !== undefined && CERTIFICATE_REFUSALS.includes(answer.status);
        if (isRefused && ways[at + 1]?.certificate !== undefined) continue;
        if (ways.length > 1) this.#learned.set(host, way);
        return answer;
      } catch (error) {
        const isWire = error instanceof InspectionError && ["Unreachable", "TlsFailed"].includes(error.failure.reason);
        if (!isWire) throw error;
        failure = error;
      }
    }
    throw failure;
  }

  #inOrder(endpoint: Endpoint): readonly [ConnectionWay, ...ConnectionWay[]] {
    const all = waysOf(endpoint);
    const worked = this.#learned.get(endpoint.host);
    const first = worked === undefined ? undefined : all.find((way) => isSame(way, worked));
    return first === undefined ? all : [first, ...all.filter((way) => way !== first)];
  }
}

function transportOf({ certificate }: ConnectionWay, { transport }: Endpoint): EndpointTransport {
  const { clientCertificates: _all, ...others } = transport;
  return certificate === undefined ? others : { ...others, clientCertificates: [certificate] };
}

/** Every way that the configuration allows: each certificate over TLS, then without TLS where that is allowed. */
function waysOf(
  { transport: { scheme, clientCertificates = [] } }: Endpoint,
): readonly [ConnectionWay, ...ConnectionWay[]] {
  const plain: ConnectionWay = { scheme: "http", certificate: undefined };
  if (scheme === "http") return [plain];
  const [first, ...others] = clientCertificates;
  const secure = (certificate: ClientCertificate | undefined): ConnectionWay => ({ scheme: "https", certificate });
  const last = scheme === "https" ? [] : [plain];
  return [secure(first), ...others.map(secure), ...last];
}

function isSame(left: ConnectionWay, right: ConnectionWay): boolean {
  return left.scheme === right.scheme && left.certificate?.certificate === right.certificate?.certificate;
}
