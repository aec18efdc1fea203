// The real `serve` in front of an open playground with its own registries: pods are created and read back when decided.
import { systemClock } from "../../lib/clock.ts";
import { type KubeObject, Resource, type ResourceType } from "../../lib/k8s/types.ts";
import { silentLogger } from "../../lib/log.ts";
import { SCHEDULING_GATE } from "../../lib/names.ts";
import { createObject } from "../../playground/create_object.ts";
import { deleteObject } from "../../playground/delete_object.ts";
import { type JsonObject, listAtPath, textAtPath } from "../../playground/json_path.ts";
import { openPlayground, type Playground } from "../../playground/playground.ts";
import { kindNamed } from "../../playground/kinds.ts";
import {
  DEAD_HOST,
  openWalkRegistries,
  OPERATOR_NAMESPACE,
  renderRegistriesConf,
  type WalkRegistries,
} from "../support/walk/registries.ts";
import type { WalkSetting, WalkSubject } from "../support/walk/subject.ts";
import { serveConfig } from "../serve/flag_effects/support.ts";
import { findFreePort } from "../cluster/support/ports.ts";
import { settingsFlag } from "../support/settings_file.ts";
import { temporaryFolder } from "../support/temporary_folder.ts";
import { serveFlags, whileServing } from "./serving.ts";

const PATIENCE_MS = 30_000;

/** A walk whose stored objects a test can also read and change behind the API. */
export interface Walk extends WalkSubject {
  readonly playground: Playground;
}

export interface WalkOptions extends WalkSetting {
  readonly prepare?: ((walk: Walk) => Promise<void>) | undefined;
  /** What the registry answers instead; undefined lets the request pass. */
  readonly intercept?: (request: Request) => Response | undefined;
}

/** Runs `use` while the service serves; everything is closed afterwards. */
export async function withWalk(options: WalkOptions, use: (walk: Walk) => Promise<void>): Promise<void> {
  await using workDir = await temporaryFolder();
  await using playground = await openPlayground({
    clock: systemClock,
    log: silentLogger,
    workDir: workDir.path,
    namespaces: [OPERATOR_NAMESPACE, "openshift-config"],
  });
  const certificate = {
    cert: await Deno.readTextFile(playground.files.certificate),
    key: await Deno.readTextFile(playground.files.key),
  };
  await using registries = await openWalkRegistries(certificate, options.intercept);
  const walk = walkOf(playground, registries);
  await furnish(walk, options);
  await serveWhile(walk, { workDir: workDir.path, use });
}

function walkOf(playground: Playground, registries: WalkRegistries): Walk {
  const { store } = playground.cluster;
  const walk: Walk = {
    ...registries,
    node: "amd64-1",
    playground,
    create: (kind, body, namespace) => create(walk, kind, body, namespace),
    remove: (kind, name, namespace) => remove(walk, kind, name, namespace),
    names: (kind) => Promise.resolve(store.list(kindNamed(kind)).map(({ metadata }) => metadata.name)),
    decided: (namespace, name) => Promise.resolve(decidedPod(walk, namespace, name)),
    until: (what, holds) => untilChanged(walk, what, holds),
  };
  return walk;
}

async function furnish(walk: Walk, { spec, namespaces, prepare }: WalkOptions): Promise<void> {
  const { store } = walk.playground.cluster;
  const config = store.get(Resource.clusterConfigs, "cluster");
  if (config === undefined) throw new Error("the playground has no cluster config");
  store.put(Resource.clusterConfigs, { ...config, spec });
  for (const [name, labels] of Object.entries(namespaces)) {
    await create(walk, "Namespace", { metadata: { name, labels } });
  }
  await prepare?.(walk);
}

async function serveWhile(
  walk: Walk,
  { workDir, use }: { readonly workDir: string; readonly use: (walk: Walk) => Promise<void> },
): Promise<void> {
  const registriesConf = `${workDir}/registries.conf`;
  await Deno.writeTextFile(registriesConf, renderRegistriesConf(walk));
  const port = findFreePort();
  const config = serveConfig(
    ...serveFlags(walk.playground),
    `--namespace=${OPERATOR_NAMESPACE}`,
    ...[walk.host, walk.untrustedHost, DEAD_HOST].map((host) => `--registry=${host}`),
    `--insecure-registry=${walk.insecureHost}`,
    settingsFlag(workDir, { registriesConf }),
    `--listen=127.0.0.1:${port}`,
    "--admin-listen=127.0.0.1:0",
    `--webhook-url=https://127.0.0.1:${port}`,
    "--max-gate-age=4s",
  );
  await whileServing(walk.playground, { config, identity: "archway-walk" }, async () => {
    await waitFor(walk, () => walk.playground.cluster.store.list(Resource.mutatingWebhooks).length > 0);
    await use(walk);
  });
}

export function create({ playground }: Walk, kind: string, body: JsonObject, namespace?: string): Promise<KubeObject> {
  return createObject(playground.cluster, kindNamed(kind), { namespace, body });
}

export function remove(walk: Walk, kind: string, name: string, namespace?: string): Promise<KubeObject> {
  return deleteObject(walk.playground.cluster, kindNamed(kind), { namespace, name });
}

/** Resolves when the condition holds of the stored objects; rejects after half a minute. */
export function waitFor(walk: Walk, holds: () => boolean): Promise<void> {
  return untilChanged(walk, String(holds), () => Promise.resolve(holds()));
}

/** Looks at the start and after every change of a stored object. */
async function untilChanged({ playground }: Walk, what: string, holds: () => Promise<boolean>): Promise<void> {
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => late.reject(new Error(`Cannot see it happen: ${what}`)), PATIENCE_MS);
  late.promise.catch(() => {});
  try {
    for (;;) {
      const change = Promise.withResolvers<void>();
      const unsubscribe = playground.cluster.store.subscribe(() => change.resolve());
      try {
        if (await holds()) return;
        await Promise.race([change.promise, late.promise]);
      } finally {
        unsubscribe();
      }
    }
  } finally {
    clearTimeout(timer);
  }
}

export function decidedPod(walk: Walk, namespace: string, name: string): KubeObject | undefined {
  const pod = walk.playground.cluster.store.get(Resource.pods, `${namespace}/${name}`);
  const gates = listAtPath(pod, "spec", "schedulingGates").map((gate) => textAtPath(gate, "name"));
  return gates.includes(SCHEDULING_GATE) ? undefined : pod;
}

export function stored(walk: Walk, type: ResourceType): readonly KubeObject[] {
  return walk.playground.cluster.store.list(type);
}
