// Plain HTTP without a proxy, whatever the environment says: `fetch` heeds the variables of the environment, and a Service of
// the cluster is never behind a proxy. It has the interface of fetch.
import { request as httpRequest } from "node:http";
import { exchange } from "../../../k8s/pinned/exchange.ts";

export interface DirectRequest {
  readonly method: string;
  readonly headers: Headers;
  readonly body: string | undefined;
  readonly signal: AbortSignal;
}

/** Like fetch with `redirect: "manual"`, over a connection of its own. */
export async function fetchDirect(url: URL, { method, headers, body, signal }: DirectRequest): Promise<Response> {
  // Nothing is gained by compression inside of a cluster.
  headers.set("accept-encoding", "identity");
  const options = { method, headers: Object.fromEntries(headers), signal, agent: false };
  try {
    return await exchange(method, (onAnswer) => httpRequest(url, options, onAnswer).end(body));
  } catch (error) {
    throw signal.aborted ? signal.reason : error;
  }
}
