// Parses MachineConfigPools, rendered MachineConfigs, MachineSets and Nodes.
import * as z from "zod";
import { parseMeta } from "../../../vocabulary/meta.ts";
import type { BuildMachineSet, BuildNode } from "../observed.ts";
import { type MachineConfigPool, parseMachineConfigPool, parseMachineSet } from "../../../vocabulary/machines.ts";
import { decodeBase64, entryOf, type JsonObject, listAt, objectAt, textAt } from "../../../json.ts";
import { kubeObject } from "../../../vocabulary/schema.ts";
import type { KubeObject } from "../../../k8s/types.ts";
import { NODE_ARCH_LABEL } from "../../../names.ts";
import { asParsed, type Parsed, unparsable } from "../../../parsed.ts";
import { parseNode } from "../../../vocabulary/node.ts";
import { McoAnnotation } from "../names.ts";

export function parseBuildPool(object: KubeObject): Parsed<MachineConfigPool> {
  const pool = parseMachineConfigPool(object);
  const { name, nodeSelector } = pool;
  return nodeSelector.kind === "unparsable"
    ? unparsable(`MachineConfigPool "${name}": ${nodeSelector.message}`)
    : asParsed(pool);
}

const RenderedConfigSchema = kubeObject.transform(({ metadata, spec }) => {
  const textsAt = (name: string): readonly string[] =>
    (listAt(spec, name) ?? []).filter((one) => typeof one === "string");
  const files = filesOf(spec);
  return {
    meta: parseMeta({ metadata }),
    osImageURL: textAt(spec, "osImageURL"),
    extensionsImage: textAt(spec, "baseOSExtensionsContainerImage"),
    kernelType: textAt(spec, "kernelType"),
    kernelArguments: textsAt("kernelArguments"),
    extensions: textsAt("extensions"),
    /** Two of its Ignition files, decoded. */
    files: {
      policy: files.get("/etc/containers/policy.json"),
      registries: files.get("/etc/containers/registries.conf"),
    },
  };
});

/** `whole` is the object itself, which goes into the build. */
export type RenderedConfig = Readonly<z.output<typeof RenderedConfigSchema>> & { readonly whole: JsonObject };

export function parseRenderedConfig(object: KubeObject): RenderedConfig {
  return { ...RenderedConfigSchema.parse(object), whole: object };
}

function filesOf(spec: JsonObject): ReadonlyMap<string, string> {
  const storage = objectAt(objectAt(spec, "config"), "storage");
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

export function decodeDataUrl(url: string): string | undefined {
  const [, parameters = "", data = ""] = /^data:([^,]*),(.*)$/s.exec(url) ?? [];
  if (!url.startsWith("data:")) return undefined;
  try {
    if (!/;base64$/i.test(parameters)) return decodeURIComponent(data);
    return decodeBase64(data);
  } catch {
    return undefined;
  }
}

export function parseBuildMachineSet(object: KubeObject): BuildMachineSet | undefined {
  const { makesMachines, nodeLabels, announced } = parseMachineSet(object);
  return makesMachines ? { nodeLabels, arch: entryOf(announced, NODE_ARCH_LABEL) ?? "" } : undefined;
}

export function parseBuildNode(object: KubeObject): BuildNode {
  const { name, labels, taints, reportedArchitecture, os, isSchedulable, annotations } = parseNode(object);
  return {
    name,
    labels,
    taints,
    reportedArchitecture,
    os,
    isSchedulable,
    currentImage: entryOf(annotations, McoAnnotation.nodeCurrentImage) ?? "",
    desiredImage: entryOf(annotations, McoAnnotation.nodeDesiredImage) ?? "",
  };
}
