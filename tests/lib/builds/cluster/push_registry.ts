// A registry that takes pushes, and the access to it that builds have.
import { openBuildRegistries } from "../../../../lib/builds/cluster/answer_questions.ts";
import { systemClock } from "../../../../lib/clock.ts";
import { openRegistryAccess } from "../../../../lib/oci/registry_access.ts";
import { silentLogger } from "../../../../lib/log.ts";
import { requireKubeObject } from "../../../../playground/cluster.ts";
import { openRegistry, type Registry } from "../../../../playground/registry.ts";
import { REGISTRY_USER, samplePullSecret } from "../../../../playground/sample_cluster.ts";

const clock = { ...systemClock, sleep: () => Promise.resolve() };

export interface PushRegistry extends AsyncDisposable {
  readonly registry: Registry;
  readonly repositories: ReturnType<typeof openBuildRegistries>["push"];
  /** Answers first; undefined lets the request pass. */
  before: (request: Request) => Response | undefined;
}

/** Waiting takes no time. */
export async function openPushRegistry(): Promise<PushRegistry> {
  await using stack = new AsyncDisposableStack();
  const intercept = (request: Request): Response | undefined => opened.before(request);
  const registry = stack.use(await openRegistry({ images: [], user: REGISTRY_USER, intercept }));
  const config = { registry: [registry.host], registryCa: [], insecureRegistry: [registry.host] };
  const options = { config, clock, log: silentLogger, userAgent: "archway/test", clusterCredentials: () => [] };
  const access = stack.use(openRegistryAccess(options));
  const push = requireKubeObject(samplePullSecret(registry.host));
  const { signal } = new AbortController();
  const repositories = openBuildRegistries({ push, pull: undefined }, { access, clock, signal }).push;
  const owned = stack.move();
  const opened: PushRegistry = {
    ...{ registry, repositories, before: () => undefined },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
  return opened;
}
