// The record of a build in its ConfigMap: one entry for each architecture, and one for what is published.
import type { V1ConfigMap } from "@kubernetes/client-node";
import { parseMeta } from "../../../vocabulary/meta.ts";
import { KNOWN_ARCHITECTURES } from "../../../arch.ts";
import { entryOf, parseObject, textMapAt } from "../../../json.ts";
import type { KubeObject, Wire } from "../../../k8s/types.ts";
import type { MachineOSBuild } from "../parse/machine_os_config.ts";
import { ArchitectureBuild, type BuildRecord, IndexState } from "../types.ts";
import { ArchwayAnnotation, BuildLabel, McoAnnotation, recordName } from "../names.ts";
import type { StoredRecord } from "../facts.ts";

const INDEX_KEY = "index";

export const EMPTY_INDEX: IndexState = { kind: "absent" };

export function parseStoredRecord(object: KubeObject): StoredRecord | undefined {
  const meta = parseMeta(object);
  const build = entryOf(meta.labels, BuildLabel.build) ?? "";
  if (build === "" || meta.name !== recordName(build)) return undefined;
  const data = textMapAt(object, "data") ?? {};
  const archs = KNOWN_ARCHITECTURES.flatMap((key): readonly ArchitectureBuild[] => {
    const { data: one } = ArchitectureBuild.safeParse(parseObject(entryOf(data, key) ?? ""));
    return one?.arch === key ? [one] : [];
  });
  const { data: index = EMPTY_INDEX } = IndexState.safeParse(parseObject(entryOf(data, INDEX_KEY) ?? ""));
  return {
    name: meta.name,
    resourceVersion: meta.resourceVersion,
    build,
    buildUid: entryOf(meta.annotations, ArchwayAnnotation.buildUid) ?? "",
    pushSpec: entryOf(meta.annotations, ArchwayAnnotation.pushSpec) ?? "",
    pushSecret: entryOf(meta.annotations, McoAnnotation.pushSecret) ?? "",
    record: { archs, index },
  };
}

/** The ConfigMap has no owner, since it must outlive its build until the images that it names are deleted. */
export function renderRecord(
  record: BuildRecord,
  { build, namespace }: { readonly build: MachineOSBuild; readonly namespace: string },
): KubeObject {
  const { name, uid, labels, annotations } = build.meta;
  const pushSecret = entryOf(annotations, McoAnnotation.pushSecret);
  return {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: {
      name: recordName(name),
      namespace,
      labels: { ...labels, [BuildLabel.build]: name },
      annotations: {
        [ArchwayAnnotation.buildUid]: uid,
        [ArchwayAnnotation.pushSpec]: build.pushSpec,
        ...(pushSecret === undefined ? {} : { [McoAnnotation.pushSecret]: pushSecret }),
      },
    },
    data: {
      ...Object.fromEntries(record.archs.map((one) => [one.arch, JSON.stringify(one)])),
      [INDEX_KEY]: JSON.stringify(record.index),
    },
  } satisfies Wire<V1ConfigMap>;
}

export function renderArchitectureStatus(archs: readonly ArchitectureBuild[]): string {
  return archs.map(({ arch, state }) => `${arch}=${state}`).join(",");
}
