// An operator with its webhooks on a real control plane, under the rights of the manifests: what serve does, without pods
// being decided.
import { Hono } from "hono";
import { renderFolder } from "../../../manifests/generate/kustomize.ts";
import { Operator } from "../../../controllers/operator/controller.ts";
import { systemClock } from "../../../lib/clock.ts";
import { type HttpsListener, openHttpsListener } from "../../../lib/server/https_listener.ts";
import { type KubeApi, readOptional } from "../../../lib/k8s/api.ts";
import { readKubeconfigAccess } from "../../../lib/k8s/kubeconfig_access.ts";
import type { KubeObject, ResourceTarget, ResourceType } from "../../../lib/k8s/types.ts";
import { silentLogger } from "../../../lib/log.ts";
import { GateLabel, SCHEDULING_GATE, WebhookPath } from "../../../lib/names.ts";
import { type AuthorityTerms, DEFAULT_TERMS } from "../../../lib/server/certificate/authority.ts";
import { AuthorityStore } from "../../../lib/server/certificate/authority_store.ts";
import { openSelfManagedCertificate } from "../../../lib/server/certificate/self_managed.ts";
import type { ServingCertificate } from "../../../lib/server/certificate/serving_certificate.ts";
import { allowedReview } from "../../../routes/admission.ts";
import { openSiblingConfigs } from "../../../lib/operator/cluster/sibling_configs.ts";
import { reviewClusterConfig, reviewNamespaceConfig } from "../../../routes/check_config.ts";
import { convertReview } from "../../../routes/conversion.ts";
import { openTestApi } from "../../support/cluster_api.ts";
import { openConfigWatches } from "../../support/config_watches.ts";
import { installArchway } from "./archway.ts";
import { leadTo } from "./installation.ts";
import { INSTALLED } from "./leased_plane.ts";
import { waitToOwn } from "./owners.ts";
import { bareControlPlane, type SharedControlPlane } from "./shared_control_plane.ts";
import { openHastyClock } from "./upgrade_bed.ts";

export const NAMESPACE = "archway-system";

export interface OperatorBench extends AsyncDisposable {
  readonly controlPlane: SharedControlPlane;
  readonly admin: KubeApi;
  readonly events: readonly string[];
  readonly warnings: readonly string[];
  readonly certificate: ServingCertificate;
  readonly store: AuthorityStore;
  readonly terms: AuthorityTerms;
  readonly signal: AbortSignal;
  find(type: ResourceType, target: ResourceTarget): Promise<KubeObject | undefined>;
}

export async function openOperatorBench(): Promise<OperatorBench> {
  await using undo = new AsyncDisposableStack();
  const controlPlane = undo.use(await bareControlPlane());
  const account = await installArchway(controlPlane);
  const stop = new AbortController();
  const { signal } = stop;
  const log = silentLogger;
  const open = async (kubeconfig: string): Promise<KubeApi & AsyncDisposable> =>
    openTestApi(await readKubeconfigAccess(kubeconfig, { clock: systemClock }));
  const api = undo.use(await open(account));
  await waitToOwn(controlPlane, INSTALLED.kinds);
  const admin = undo.use(await open(controlPlane.kubeconfigFile));
  const store = new AuthorityStore(api, NAMESPACE);
  const terms = { ...DEFAULT_TERMS, names: ["127.0.0.1"] };
  // It reads its Secret every 100 ms at most.
  const certificate = await openSelfManagedCertificate({ store, terms, clock: openHastyClock(300), log }, signal);
  const listener = await listen(certificate, { api: admin, signal });
  undo.defer(() => listener.close(0));
  const baseUrl = `https://127.0.0.1:${listener.port}`;
  const events: string[] = [];
  const warnings: string[] = [];
  const operator = new Operator({
    api,
    unfencedApi: api,
    events: {
      record: ({ object, type, reason, message }) => {
        events.push(`${object.name} ${type} ${reason}`);
        if (type === "Warning") warnings.push(message);
      },
    },
    clock: systemClock,
    log,
    settings: {
      namespace: NAMESPACE,
      endpoint: { kind: "url", baseUrl },
      watchesQueued: false,
      deploymentName: "archway",
      execFormatImage: undefined,
      maxGateAgeMs: 5_000,
      resyncMs: 30_000,
    },
    canServe: () => true,
    canReconcile: () => true,
    secretPaths: undefined,
    caBundle: () => certificate.current().caBundle,
    whyNotGating: () => undefined,
    taints: () => undefined,
  });
  certificate.onChange((next) => {
    listener.setCertificate(next);
    operator.requestReconcile();
  });
  await installWebhooks(controlPlane, baseUrl);
  const configs = openConfigWatches(api, () => operator.requestReconcile());
  const running = Promise.all([operator, certificate, ...configs].map((part) => part.run(signal)));
  undo.defer(async () => {
    stop.abort();
    await running;
  });
  const kept = undo.move();
  return {
    ...{ controlPlane, admin, events, warnings, certificate, store, terms, signal },
    find: (type, target) => readOptional(admin, { type, ...target, signal }),
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  };
}

/** The validating webhooks and the conversion as the manifests have them, by URL instead of by Service. */
async function installWebhooks(controlPlane: SharedControlPlane, baseUrl: string): Promise<void> {
  const led = ["ValidatingWebhookConfiguration", "CustomResourceDefinition"];
  const objects = (await renderFolder("base")).filter(({ kind }) => led.includes(kind));
  await controlPlane.apply(objects.map((object) => leadTo(baseUrl, object)));
}

async function listen(
  certificate: ServingCertificate,
  { api, signal }: { readonly api: KubeApi; readonly signal: AbortSignal },
): Promise<HttpsListener> {
  const configs = { hasSynced: () => false, forNamespace: () => ({ cluster: undefined, namespace: [] }) };
  const parts = { api, signal, siblings: openSiblingConfigs({ api, configs, signal }) };
  const app = new Hono();
  app.post(WebhookPath.convert, async (context) => context.json(convertReview(await context.req.json()) ?? {}));
  app.post(
    WebhookPath.validateClusterConfig,
    async (context) => context.json(await reviewClusterConfig(await context.req.json(), parts) ?? {}),
  );
  app.post(
    WebhookPath.validateNamespaceConfig,
    async (context) => context.json(await reviewNamespaceConfig(await context.req.json(), parts) ?? {}),
  );
  app.post(WebhookPath.gatePod, async (context) => {
    const { request } = await context.req.json();
    const patch = [
      { op: "add", path: "/metadata/labels", value: { [SCHEDULING_GATE]: GateLabel.gated } },
      { op: "add", path: "/spec/schedulingGates", value: [{ name: SCHEDULING_GATE }] },
    ];
    return context.json(allowedReview(request.uid, JSON.stringify(patch)));
  });
  const { cert, key } = certificate.current();
  return await openHttpsListener({ host: "127.0.0.1", port: 0, certificate: { cert, key }, handler: app.fetch });
}
