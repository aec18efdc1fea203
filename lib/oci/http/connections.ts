// Sends a request to an endpoint when it is its turn at the host. Tries each client certificate over TLS, then plain
// HTTP where allowed, starting with the way that worked last.
import { LRUCache } from "lru-cache";
import type { Clock } from "../../clock.ts";
import { RegistryError } from "../errors.ts";
import type { RequestContext } from "../request_log.ts";
import type { HostLimiters } from "../limits/host_limiters.ts";
import type { ClientCertificate, ConnectionSettings, Endpoint } from "../endpoint.ts";
import { livingBy } from "../cache_limits.ts";
import type { RegistryMessage, RegistryRequest, RegistryResponse } from "./exchange.ts";
import type { Transport } from "./transport.ts";

interface EndpointRequest {
  readonly endpoint: Endpoint;
  readonly context: RequestContext;
  readonly message: RegistryMessage & Pick<RegistryRequest, "authorization" | "redirectLogin">;
  readonly urlBy: (scheme: ConnectionWay["scheme"]) => URL;
  /** The login whose requests the registry counts together; anonymous requests are one account. */
  readonly account: string;
  /** The repositories that may fail together, see failing_groups.ts. */
  readonly group: string;
}

interface ConnectionWay {
  readonly scheme: "https" | "http";
  readonly certificate: ClientCertificate | undefined;
}

const MAX_HOSTS = 1_000;
/** How long a way is remembered after it was found (ms): certificates and authorities change. */
const LIFE_MS = 600_000;

/** Answers to a rejected client certificate: 400, 495 or 496 from nginx, 403 from others. */
const CERTIFICATE_REFUSALS: readonly number[] = [400, 403, 495, 496];

export class Connections {
  readonly #transport: Transport;
  readonly #hosts: HostLimiters;
  readonly #learned: LRUCache<string, ConnectionWay>;

  constructor(transport: Transport, hosts: HostLimiters, clock: Clock) {
    this.#transport = transport;
    this.#hosts = hosts;
    this.#learned = new LRUCache({ max: MAX_HOSTS, ttl: LIFE_MS, ...livingBy(clock) });
  }

  /** Waits for its turn and for short pauses the host requests. Throws RegistryError without a complete answer. */
  async send(request: EndpointRequest): Promise<RegistryResponse> {
    const { endpoint: { host }, context, account, group } = request;
    const limited = { ...context, host, group, account };
    return await this.#hosts.run(limited, () => this.#tryEachWay(request));
  }

  /** The settings to try first, for another request to the same host. */
  connectionFor(endpoint: Endpoint): ConnectionSettings {
    return connectionBy(this.#inOrder(endpoint)[0], endpoint);
  }

  /** Tries the ways in order until one works; else gives the last result. */
  async #tryEachWay({ endpoint, context, message, urlBy }: EndpointRequest): Promise<RegistryResponse> {
    const { host, headers } = endpoint;
    const ways = this.#inOrder(endpoint);
    let failure: unknown;
    for (const [at, way] of ways.entries()) {
      try {
        const outgoing = { ...message, headers, url: urlBy(way.scheme), connection: connectionBy(way, endpoint) };
        const response = await this.#transport.send(outgoing, context);
        const isRefused = way.certificate !== undefined && CERTIFICATE_REFUSALS.includes(response.status);
        if (isRefused && ways[at + 1]?.certificate !== undefined) continue;
        if (at > 0 && !isRefused) this.#learned.set(host, way);
        return response;
      } catch (error) {
        const isWire = error instanceof RegistryError && ["Unreachable", "TlsFailed"].includes(error.failure.reason);
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

function connectionBy({ certificate }: ConnectionWay, { connection }: Endpoint): ConnectionSettings {
  const { clientCertificates: _all, ...others } = connection;
  return certificate === undefined ? others : { ...others, clientCertificates: [certificate] };
}

/** All configured ways: each certificate over TLS, then plain HTTP where allowed. */
function waysOf(
  { connection: { scheme, clientCertificates = [] } }: Endpoint,
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
