// A MachineConfigPool, a rendered MachineConfig and what makes machines.
import * as z from "zod";
import { entryOf, listAt, memberOf, objectAt, textAt, textMapAt } from "../../json.ts";
import { CLUSTER_SELECTOR_BOUNDS, parseSelector } from "../../k8s/label_selector.ts";
import type { KubeObject } from "../../k8s/types.ts";
import { NODE_ARCH_LABEL } from "../../names.ts";
import { asParsed, type Parsed, unparsable } from "../../parsed.ts";
import type { MachineConfigPool, MachineSet, RenderedConfig } from "../observed.ts";
import { parseConditions, parseMeta } from "./meta.ts";
import { problemsOf } from "./problems.ts";

/** Entries of lists that are read: those of real clusters are a tenth. */
const MAX_ENTRIES = 1_000;
const texts = z.array(z.string().max(4_096)).max(MAX_ENTRIES);

const renderedSpec = z.object({
  osImageURL: z.string().max(4_096).default(""),
  baseOSExtensionsContainerImage: z.string().max(4_096).default(""),
  kernelType: z.string().max(64).default(""),
  kernelArguments: texts.nullish(),
  extensions: texts.nullish(),
});

const poolSpec = z.object({ nodeSelector: z.unknown(), paused: z.boolean().default(false) });

/** Reads a MachineConfigPool. */
export function parseMachineConfigPool(object: KubeObject): Parsed<MachineConfigPool> {
  const meta = parseMeta(object);
  const spec = poolSpec.safeParse(object.spec ?? {});
  if (!spec.success) return problemsOf(`MachineConfigPool "${meta.name}"`, spec.error);
  const wanted = objectAt(objectAt(object, "spec"), "configuration");
  const status = objectAt(object, "status");
  const nodeSelector = parseSelector(spec.data.nodeSelector, CLUSTER_SELECTOR_BOUNDS);
  if (nodeSelector.kind === "unparsable") {
    return unparsable(`MachineConfigPool "${meta.name}": ${nodeSelector.message}`);
  }
  return asParsed({
    meta,
    nodeSelector,
    isPaused: spec.data.paused,
    rendered: textAt(wanted, "name"),
    configuration: wanted ?? {},
    currentRendered: textAt(objectAt(status, "configuration"), "name"),
    conditions: parseConditions(status),
  });
}

/** Reads a MachineConfig that was rendered for a pool. */
export function parseRenderedConfig(object: KubeObject): Parsed<RenderedConfig> {
  const meta = parseMeta(object);
  const spec = renderedSpec.safeParse(object.spec ?? {});
  if (!spec.success) return problemsOf(`MachineConfig "${meta.name}"`, spec.error);
  const { osImageURL, baseOSExtensionsContainerImage, kernelType, kernelArguments, extensions } = spec.data;
  const files = filesOf(object);
  return asParsed({
    meta,
    osImageURL,
    extensionsImage: baseOSExtensionsContainerImage,
    kernelType,
    kernelArguments: kernelArguments ?? [],
    extensions: extensions ?? [],
    files: {
      policy: files.get("/etc/containers/policy.json"),
      registries: files.get("/etc/containers/registries.conf"),
    },
    whole: object,
  });
}

function filesOf(object: KubeObject): ReadonlyMap<string, string> {
  const storage = objectAt(objectAt(objectAt(object, "spec"), "config"), "storage");
  const found = new Map<string, string>();
  for (const file of listAt(storage, "files") ?? []) {
    const path = textAt(file, "path");
    if (!path.startsWith("/etc/containers/")) continue;
    const contents = objectAt(file, "contents");
    const text = textAt(contents, "compression") === "" ? decodeDataUrl(textAt(contents, "source")) : undefined;
    if (text !== undefined) found.set(path, text);
  }
  return found;
}

/** The text of a `data:` URL; undefined for another URL or one that is not well-formed. */
export function decodeDataUrl(url: string): string | undefined {
  const [, parameters = "", data = ""] = /^data:([^,]*),(.*)$/s.exec(url) ?? [];
  if (!url.startsWith("data:")) return undefined;
  try {
    if (!/;base64$/i.test(parameters)) return decodeURIComponent(data);
    return new TextDecoder().decode(Uint8Array.from(atob(data), (char) => char.charCodeAt(0)));
  } catch {
    return undefined;
  }
}

const MACHINE_ROLE = "machine.openshift.io/cluster-api-machine-role";
const CAPACITY_LABELS = "capacity.cluster-autoscaler.kubernetes.io/labels";

/** Reads a MachineSet; undefined for one that makes no machine. */
export function parseMachineSet(object: KubeObject): MachineSet | undefined {
  const { name, annotations = {} } = object.metadata;
  const spec = objectAt(object, "spec");
  if (memberOf(spec, "replicas") === 0 && !hasAutoscaler(annotations)) return undefined;
  const template = objectAt(spec, "template");
  const role = entryOf(textMapAt(objectAt(template, "metadata"), "labels"), MACHINE_ROLE);
  const labels = Object.fromEntries(
    (annotations[CAPACITY_LABELS] ?? "").split(",").map((pair) => pair.trim().split("=")).flatMap(
      ([key = "", value = ""]) => key === "" ? [] : [[key, value]],
    ),
  );
  return {
    name,
    nodeLabels: {
      // A machine's kubelet gives its node the label of the role.
      ...(role === undefined ? {} : { [`node-role.kubernetes.io/${role}`]: "" }),
      ...labels,
      ...textMapAt(objectAt(objectAt(template, "spec"), "metadata"), "labels"),
    },
    arch: labels[NODE_ARCH_LABEL] ?? "",
  };
}

function hasAutoscaler(annotations: Readonly<Record<string, string>>): boolean {
  return Object.hasOwn(annotations, "machine.openshift.io/cluster-api-autoscaler-node-group-max-size");
}
