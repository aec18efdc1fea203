// The ways to connect to a host: each client certificate, plain HTTP after TLS. The one that worked is first.
import { LRUCache } from "lru-cache";
import { InspectionError } from "../errors.ts";
import type { ClientCertificate, Endpoint, EndpointTransport } from "../pull_plan.ts";
import type { RegistryResponse } from "./exchange.ts";

interface ConnectionWay {
  readonly scheme: "https" | "http";
  readonly certificate: ClientCertificate | undefined;
}

const MAX_HOSTS = 2_000;
/** An insecure registry may get a certificate one day, and a strict one another authority (ms). */
const LIFE_MS = 600_000;

/** What servers answer to a certificate that they do not accept: nginx says 400 (or 495, 496), others 403. */
const CERTIFICATE_REFUSALS: readonly number[] = [400, 403, 495, 496];

export class ConnectionWays {
  // With another ttlResolution the cache keeps a timer instead of reading the clock.
  readonly #learned = new LRUCache<string, ConnectionWay>({ max: MAX_HOSTS, ttl: LIFE_MS, ttlResolution: 0 });

  /** The way to try first, as the transport to use for another request that belongs to the same host. */
  transport(endpoint: Endpoint): EndpointTransport {
    return transportOf(this.#inOrder(endpoint)[0], endpoint);
  }

  /** Sends in one way after the other until one works; the result of the last one counts. */
  async tryEach(
    endpoint: Endpoint,
    send: (scheme: ConnectionWay["scheme"], transport: EndpointTransport) => Promise<RegistryResponse>,
  ): Promise<RegistryResponse> {
    const ways = this.#inOrder(endpoint);
    let failure: unknown;
    for (const [at, way] of ways.entries()) {
      try {
        const answer = await send(way.scheme, transportOf(way, endpoint));
        const isRefused = way.certificate !== undefined && CERTIFICATE_REFUSALS.includes(answer.status);
        if (isRefused && ways[at + 1]?.certificate !== undefined) continue;
        if (ways.length > 1) this.#learned.set(endpoint.host, way);
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
