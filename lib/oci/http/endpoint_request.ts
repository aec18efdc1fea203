// One request to an endpoint: when its turn at the host comes, over the connection that works there.
import type { RequestLimiter } from "../limits/request_limiter.ts";
import type { Endpoint } from "../pull_plan.ts";
import type { InspectionContext } from "../request_log.ts";
import type { ConnectionWays } from "./connection_ways.ts";
import type { RegistryRequest, RegistryResponse } from "./exchange.ts";
import type { Transport } from "./transport.ts";

export interface EndpointDeps {
  readonly transport: Transport;
  readonly limiter: RequestLimiter;
  readonly ways: ConnectionWays;
}

interface EndpointRequest {
  readonly endpoint: Endpoint;
  readonly context: Pick<InspectionContext, "callers" | "log">;
  readonly message: Omit<RegistryRequest, "url" | "transport" | "headers" | "callers" | "requestLog">;
  readonly urlBy: (scheme: "https" | "http") => URL;
  readonly signal: AbortSignal;
  /** The registry counts the requests of one login, and of none, together. */
  readonly account: string;
  /** Empty: the registry itself. What is known of one repository must not stand in the way of others. */
  readonly repository: string;
}

/** Waits for its turn, and waits out short pauses that the host requests. Throws InspectionError when no whole answer comes. */
export async function sendToEndpoint(
  { transport, limiter, ways }: EndpointDeps,
  { endpoint, context, message, urlBy, signal, account, repository }: EndpointRequest,
): Promise<RegistryResponse> {
  const { host, headers } = endpoint;
  const { callers, log: requestLog } = context;
  const common = { ...message, headers, callers, requestLog };
  return await limiter.run(
    { host, repository, method: message.method, account, callers, signal },
    () =>
      ways.tryEach(
        endpoint,
        (scheme, own) => transport.send({ ...common, url: urlBy(scheme), transport: own }, signal),
      ),
  );
}
