// The record of a build in its ConfigMap: one text an architecture and one for what is published.
import type { V1ConfigMap } from "@kubernetes/client-node";
import * as z from "zod";
import { KNOWN_ARCHITECTURES } from "../../arch.ts";
import { entryOf, parseObject, textMapAt } from "../../json.ts";
import type { KubeObject } from "../../k8s/types.ts";
import type { Wire } from "../../k8s/wire.ts";
import type { MachineOSBuild } from "../observed.ts";
import { parseMeta } from "../parse/meta.ts";
import type { ArchBuild, BuildRecord, IndexState } from "../types.ts";
import { ArchwayAnnotation, BuildLabel, McoAnnotation, recordName } from "../names.ts";
import type { StoredRecord } from "../facts.ts";

const text = z.string().max(4_096);
const count = z.number().int().nonnegative();
const arch = z.enum(KNOWN_ARCHITECTURES);
const optional = { text: text.optional(), count: count.optional(), flag: z.boolean().optional() };

const archBuild = z.object({
  arch,
  buildKey: text,
  state: z.enum(["Pending", "Reused", "Preparing", "Building", "Succeeded", "Failed", "Interrupted"]),
  job: z.object({ name: text, uid: text }).optional(),
  digest: optional.text,
  mediaType: optional.text,
  size: optional.count,
  startedAt: optional.text,
  finishedAt: optional.text,
  attempts: count,
  reason: optional.text,
  message: optional.text,
  tag: optional.text,
  waitingSince: optional.text,
  wasLost: optional.flag,
  isUnlabelled: optional.flag,
  from: optional.text,
});

const indexState = z.discriminatedUnion("kind", [
  z.object({ kind: z.literal("absent") }),
  z.object({ kind: z.literal("published"), reference: text, tag: text, children: z.array(text).max(8) }),
  z.object({ kind: z.literal("retry"), attempts: count, retryAtMs: z.number(), message: text, tag: optional.text }),
  z.object({ kind: z.literal("failed"), reason: text, message: text, arch: arch.optional() }),
]);

/** The key beside the architectures. */
const INDEX_KEY = "index";

/** Nothing is done yet. */
export const EMPTY_INDEX: IndexState = { kind: "absent" };

/** Reads a record; undefined for a ConfigMap that is none. What cannot be read of it is as if it were not there. */
export function parseStoredRecord(object: KubeObject): StoredRecord | undefined {
  const meta = parseMeta(object);
  const build = entryOf(meta.labels, BuildLabel.build) ?? "";
  if (build === "" || meta.name !== recordName(build)) return undefined;
  const data = textMapAt(object, "data") ?? {};
  const archs = KNOWN_ARCHITECTURES.flatMap((key): readonly ArchBuild[] => {
    const parsed = archBuild.safeParse(parseObject(entryOf(data, key) ?? ""));
    return parsed.success && parsed.data.arch === key ? [parsed.data] : [];
  });
  const index = indexState.safeParse(parseObject(entryOf(data, INDEX_KEY) ?? ""));
  return {
    name: meta.name,
    resourceVersion: meta.resourceVersion,
    build,
    buildUid: entryOf(meta.annotations, ArchwayAnnotation.buildUid) ?? "",
    pushSpec: entryOf(meta.annotations, ArchwayAnnotation.pushSpec) ?? "",
    pushSecret: entryOf(meta.annotations, McoAnnotation.pushSecret) ?? "",
    record: { archs, index: index.success ? asIndex(index.data) : EMPTY_INDEX },
  };
}

function asIndex(state: z.infer<typeof indexState>): IndexState {
  return state.kind === "failed" ? { ...state, reason: asReason(state.reason) } : state;
}

const REASONS: readonly Extract<IndexState, { kind: "failed" }>["reason"][] = [
  "RegistryUnavailable",
  "PushDenied",
  "IndexUnsupported",
  "DigestMismatch",
  "ArchMismatch",
  "ImageLost",
  "PushSpecNotRecordable",
];

function asReason(reason: string): Extract<IndexState, { kind: "failed" }>["reason"] {
  return REASONS.find((one) => one === reason) ?? "RegistryUnavailable";
}

/** The ConfigMap of a record. Nothing owns it: it is deleted with the images that it names, after the build. */
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

/** `amd64=Succeeded,arm64=Building`. */
export function renderArchStatus(archs: readonly ArchBuild[]): string {
  return archs.map(({ arch, state }) => `${arch}=${state}`).join(",");
}
