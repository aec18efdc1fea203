// The name that the machine config operator gives a build: MD5 over YAML of the pool's configuration, the MachineOSConfig's
// spec and the images. Pools of one architecture keep it, so that nothing changes where this project takes over.
import { createHash } from "node:crypto";
import type { MachineConfigPool } from "../../../cluster/machines.ts";
import { isObject, type JsonObject, memberOf, objectAt, textAt } from "../../../json.ts";
import type { MachineOSConfig, RenderedConfig } from "../observed.ts";
import { McoAnnotation } from "../names.ts";

/** Of the operator, in hex: it is the same in every cluster. */
const SALT = "107ccee48b38afaf4fe586769d9ad36e195d2ffdac6a2507ae0da0b96e115734" +
  "db830cceda8d7487bcb5c097e93e7ea54053b3770fa8d0c5926b3ae385bcee1a" +
  "211aebca20ad1fea2990944f06ce1716";

export interface ClassicNameInput {
  readonly config: Pick<MachineOSConfig, "meta" | "spec">;
  readonly pool: Pick<MachineConfigPool, "configuration">;
  readonly rendered: Pick<RenderedConfig, "meta" | "osImageURL" | "extensionsImage">;
}

/** `<MachineOSConfig>-<32 hex digits>`. */
export function classicName({ config, pool, rendered }: ClassicNameInput): string {
  const images = {
    BaseOSContainerImage: rendered.osImageURL,
    BaseOSExtensionsContainerImage: rendered.extensionsImage,
    OSImageURL: "",
    ReleaseVersion: rendered.meta.annotations[McoAnnotation.releaseVersion] ?? "",
  };
  const hash = createHash("md5").update(SALT, "hex");
  for (const part of [pool.configuration, knownSpec(config.spec), images]) hash.update(renderYaml(part));
  return `${config.meta.name}-${hash.digest("hex")}`;
}

/** The spec with the members that the operator has; it writes an absent list of containerfiles as null. */
function knownSpec(spec: JsonObject): JsonObject {
  const pull = objectAt(spec, "baseImagePullSecret");
  const files = memberOf(spec, "containerFile");
  return {
    machineConfigPool: { name: textAt(objectAt(spec, "machineConfigPool"), "name") },
    imageBuilder: { imageBuilderType: textAt(objectAt(spec, "imageBuilder"), "imageBuilderType") },
    ...(pull === undefined ? {} : { baseImagePullSecret: { name: textAt(pull, "name") } }),
    renderedImagePushSecret: { name: textAt(objectAt(spec, "renderedImagePushSecret"), "name") },
    renderedImagePushSpec: textAt(spec, "renderedImagePushSpec"),
    containerFile: Array.isArray(files)
      ? files.map((file) => ({
        containerfileArch: textAt(file, "containerfileArch") || "NoArch",
        content: textAt(file, "content"),
      }))
      : null,
  };
}

/** YAML in the block form of the library that the operator writes with. */
function renderYaml(value: unknown): string {
  if (isObject(value) && Object.keys(value).length > 0) return `${blockLines(value, 0).join("\n")}\n`;
  return `${inline(value)}\n`;
}

function blockLines(value: unknown, indent: number): readonly string[] {
  const pad = " ".repeat(indent);
  if (Array.isArray(value)) {
    return value.flatMap((item) => {
      const lines = isNested(item) ? blockLines(item, indent + 2) : [pad + "  " + inline(item, indent + 2)];
      return lines.map((line, at) => at === 0 ? `${pad}- ${line.slice(indent + 2)}` : line);
    });
  }
  if (!isObject(value)) return [pad + inline(value, indent)];
  return Object.keys(value).filter((key) => value[key] !== undefined).toSorted().flatMap((key) => {
    const member = value[key];
    if (!isNested(member)) return [`${pad}${key}: ${inline(member, indent + 2)}`];
    // Lists are not indented below their key.
    return [`${pad}${key}:`, ...blockLines(member, Array.isArray(member) ? indent : indent + 2)];
  });
}

function isNested(value: unknown): boolean {
  return Array.isArray(value) ? value.length > 0 : isObject(value) && Object.keys(value).length > 0;
}

function inline(value: unknown, indent = 0): string {
  if (Array.isArray(value)) return "[]";
  if (typeof value === "string") return scalar(value, indent);
  return isObject(value) ? "{}" : String(value);
}

const DECIMAL = /^[-+]?(?:\.\d+|\d+(?:\.\d*)?)(?:e[-+]?\d+)?$/i;
const BASE_60 = /^[-+]?\d[\d_]*(?::[0-5]?\d)+(?:\.[\d_]*)?$/;

/** A number as Go's YAML reads it: `4.22` is one, `4.22.0` is a text. */
function isNumber(text: string): boolean {
  const digits = text.replace(/(?!^)_/g, "");
  return DECIMAL.test(digits) && Number.isFinite(Number(digits)) || BASE_60.test(text);
}

/** Other scalars that YAML reads as something other than a text. */
const NOT_TEXT =
  /^(?:|~|null|true|false|yes|no|on|off|y|n|[-+]?0[xob][0-9a-f_]+|[-+]?\.inf|\.nan|\d{4}-\d\d?-\d\d?(?:[Tt ].*)?)$/i;

function scalar(text: string, indent: number): string {
  const isSpecial = /[^\n\x20-\x7e\u0085\u00a0-\ud7ff\ue000-\ufffd]/.test(text);
  if (text.includes("\n") && !isSpecial && !/ (?:\n|$)/.test(text)) return literal(text, indent);
  if (isSpecial || text.includes("\n") || isNumber(text) || NOT_TEXT.test(text)) {
    return JSON.stringify(text);
  }
  const isPlain = !/^[-?:,[\]{}#&*!|>'"%@`\s]|: | #|[:\s]$/.test(text) ||
    /^[-?:][^\s]/.test(text) && !/: | #|[:\s]$/.test(text);
  return isPlain ? text : `'${text.replaceAll("'", "''")}'`;
}

function literal(text: string, indent: number): string {
  const hint = /^[ \n]/.test(text) ? "2" : "";
  const chomp = text.endsWith("\n\n") || text === "\n" ? "+" : text.endsWith("\n") ? "" : "-";
  const body = text.replace(/\n$/, "").split("\n").map((line) => line === "" ? "" : " ".repeat(indent) + line);
  return [`|${hint}${chomp}`, ...body].join("\n");
}
