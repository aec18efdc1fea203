// KubeApi of the tests: the real client, over the wire to a stub or an API server, on a test's own time or the machine's.
import type { KubeApi, ReadApi } from "../../lib/k8s/api.ts";
import type { ClusterAccess } from "../../lib/k8s/cluster_access.ts";
import { type ApiCall } from "../../lib/k8s/api_transport.ts";
import { RestApi } from "../../lib/k8s/rest_api.ts";
import { type Clock, systemClock } from "../../lib/clock.ts";
import { silentLogger } from "../../lib/log.ts";

/** Access without credentials, or with those given. */
export function plainAccess(baseUrl: string, more: Partial<ClusterAccess> = {}): ClusterAccess {
  const credentials = { headers: {}, tls: { caCerts: [] } };
  return {
    baseUrl,
    credentials: () => Promise.resolve(credentials),
    discardCredentials: () => {},
    ...more,
  };
}

/** Opens the real client on an API server, or on what stands in for one. */
export function openTestApi(
  access: ClusterAccess,
  options: {
    readonly clock?: Clock;
    readonly observe?: (call: ApiCall) => void;
    readonly onSilence?: (sentence: string) => void;
  } = {},
): KubeApi & AsyncDisposable {
  const { clock = systemClock, observe, onSilence } = options;
  const watched = observe === undefined ? {} : { observe };
  return new RestApi(access, { clock, log: silentLogger, userAgent: "archway-tests/0", onSilence, ...watched });
}

/** The same, with pages of so many objects at most in its lists. */
export function inPagesOf(limit: number, api: ReadApi): ReadApi {
  return exchanging(api, { list: (type, options, signal) => api.list(type, { ...options, limit }, signal) });
}

/** That API with some of its calls exchanged. */
export function exchanging<T extends ReadApi>(api: T, calls: Partial<T>): T {
  return new Proxy(api, {
    get: (_, name) => {
      if (name in calls) return Reflect.get(calls, name);
      const own: unknown = Reflect.get(api, name);
      return typeof own === "function" ? own.bind(api) : own;
    },
  });
}
