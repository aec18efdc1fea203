// The name that the machine config operator gives a build: MD5 over YAML, as gopkg.in/yaml.v2 writes it, of the pool's
// configuration, the MachineOSConfig's spec and the images. Pools of one architecture keep this name, so that a
// takeover changes nothing.
import { createHash } from "node:crypto";
import type { MachineConfigPool } from "../../../vocabulary/machines.ts";
import { isObject, type JsonObject, memberOf, objectAt, textAt } from "../../../json.ts";
import type { MachineOSConfig } from "../parse/machine_os_config.ts";
import type { RenderedConfig } from "../parse/machine_config.ts";
import { McoAnnotation } from "../names.ts";

/** The machine config operator's salt, in hex; the same in every cluster. */
const SALT = "107ccee48b38afaf4fe586769d9ad36e195d2ffdac6a2507ae0da0b96e115734" +
  "db830cceda8d7487bcb5c097e93e7ea54053b3770fa8d0c5926b3ae385bcee1a" +
  "211aebca20ad1fea2990944f06ce1716";

interface BuildNameInput {
  readonly config: Pick<MachineOSConfig, "meta" | "spec">;
  readonly pool: Pick<MachineConfigPool, "configuration">;
  readonly rendered: Pick<RenderedConfig, "meta" | "osImageURL" | "extensionsImage">;
}

export function mcoBuildName({ config, pool, rendered }: BuildNameInput): string {
  const images = {
    BaseOSContainerImage: rendered.osImageURL,
    BaseOSExtensionsContainerImage: rendered.extensionsImage,
    OSImageURL: "",
    ReleaseVersion: rendered.meta.annotations[McoAnnotation.releaseVersion] ?? "",
  };
  const hash = createHash("md5").update(SALT, "hex"); // eslint-disable-line sonarjs/hashing -- the MCO names builds by it
  for (const part of [pool.configuration, knownSpec(config.spec), images]) hash.update(renderYaml(part));
  return `${config.meta.name}-${hash.digest("hex")}`;
}

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

function renderYaml(value: unknown): string {
  if (isObject(value) && Object.keys(value).length > 0) return `${blockLines(value, 0).join("\n")}\n`;
  return `${inline(value, { indent: 0, column: 0 })}\n`;
}

/** Where a value is written: the indentation of its further lines, and the column where its first line begins. */
interface Position {
  readonly indent: number;
  readonly column: number;
}

function blockLines(value: unknown, indent: number): readonly string[] {
  const pad = " ".repeat(indent);
  if (Array.isArray(value)) {
    return value.flatMap((item) => {
      const position = { indent: indent + 2, column: indent + 2 };
      const lines = isNested(item) ? blockLines(item, indent + 2) : [pad + "  " + inline(item, position)];
      return lines.map((line, at) => at === 0 ? `${pad}- ${line.slice(indent + 2)}` : line);
    });
  }
  if (!isObject(value)) return [pad + inline(value, { indent, column: indent })];
  return Object.keys(value).filter((key) => value[key] !== undefined).toSorted().flatMap((key) => {
    const member = value[key];
    const position = { indent: indent + 2, column: indent + key.length + 2 };
    if (!isNested(member)) return [`${pad}${key}: ${inline(member, position)}`];
    // Lists are not indented below their key.
    return [`${pad}${key}:`, ...blockLines(member, Array.isArray(member) ? indent : indent + 2)];
  });
}

function isNested(value: unknown): boolean {
  return Array.isArray(value) ? value.length > 0 : isObject(value) && Object.keys(value).length > 0;
}

function inline(value: unknown, position: Position): string {
  if (Array.isArray(value)) return "[]";
  if (typeof value === "string") return scalar(value, position);
  return isObject(value) ? "{}" : String(value);
}

const UNPRINTABLE = /[^\n\x20-\x7e\u00a0-\ud7ff\ue000-\ufefe\uff00-\ufffd]/;
/** What YAML reads as syntax in a text without quotes. */
const INDICATOR = /^(?:---|\.\.\.|[#,[\]{}&*!|>'"%@`]|[-?:](?:\s|$))|:(?:\s|$)|\s#/;

function scalar(text: string, position: Position): string {
  const isSpecial = UNPRINTABLE.test(text);
  if (text.includes("\n")) {
    return isSpecial || / (?:\n|$)/.test(text) ? doubleQuoted(text, position) : literal(text, position.indent);
  }
  if (isSpecial || isReadAsOtherType(text)) return doubleQuoted(text, position);
  if (!INDICATOR.test(text) && text.trim() === text) return wrap([...text], position, "plain");
  const letters = [...text].map((letter) => letter === "'" ? "''" : letter);
  return `'${wrap(letters, { ...position, column: position.column + 1 }, "single")}'`;
}

function literal(text: string, indent: number): string {
  const hint = /^[ \n]/.test(text) ? "2" : "";
  const chomp = text.endsWith("\n\n") || text === "\n" ? "+" : text.endsWith("\n") ? "" : "-";
  const body = text.replace(/\n$/, "").split("\n").map((line) => line === "" ? "" : " ".repeat(indent) + line);
  return [`|${hint}${chomp}`, ...body].join("\n");
}

const ESCAPES: Readonly<Record<string, string>> = {
  "\0": "0",
  "\x07": "a",
  "\b": "b",
  "\t": "t",
  "\n": "n",
  "\v": "v",
  "\f": "f",
  "\r": "r",
  "\x1b": "e",
  '"': '"',
  "\\": "\\",
  "\x85": "N",
};

function doubleQuoted(text: string, position: Position): string {
  const letters = [...text].map((letter) => {
    const short = ESCAPES[letter];
    if (short !== undefined) return `\\${short}`;
    return UNPRINTABLE.test(letter) ? escaped(letter.codePointAt(0) ?? 0) : letter;
  });
  return `"${wrap(letters, { ...position, column: position.column + 1 }, "double")}"`;
}

function escaped(code: number): string {
  const [kind, digits] = code <= 0xff ? ["x", 2] as const : code <= 0xffff ? ["u", 4] as const : ["U", 8] as const;
  return `\\${kind}${code.toString(16).toUpperCase().padStart(digits, "0")}`;
}

type Style = "plain" | "single" | "double";

const MAX_COLUMN = 80;

/** Folds lines at spaces beyond the 80th column. */
function wrap(letters: readonly string[], { indent, column }: Position, style: Style): string {
  let text = "";
  let afterSpace = false;
  letters.forEach((letter, at) => {
    const isInside = at > 0 && at < letters.length - 1;
    const beforeSpace = letters[at + 1] === " ";
    const isFolded = letter === " " && !afterSpace && column > MAX_COLUMN && isInside &&
      (style === "double" || !beforeSpace);
    const written = !isFolded ? letter : `\n${" ".repeat(indent)}${beforeSpace ? "\\" : ""}`;
    column = isFolded ? written.length - 1 : column + [...written].length;
    text += written;
    afterSpace = letter === " ";
  });
  return text;
}

const WORDS = new Set(
  ["", "~", "y", "n", "yes", "no", "true", "false", "on", "off", "null", ".inf", "+.inf", "-.inf"]
    .flatMap((word) => [word, word.toUpperCase(), word.replace(/[a-z]/, (letter) => letter.toUpperCase())])
    .concat([".nan", ".NaN", ".NAN"]),
);
const BASE_60 = /^[-+]?\d[\d_]*(?::[0-5]?\d)+(?:\.[\d_]*)?$/;
const DECIMAL = /^[-+]?(?:\.\d+|\d+(?:\.\d*)?)(?:e[-+]?\d+)?$/i;

function isReadAsOtherType(text: string): boolean {
  return WORDS.has(text) || BASE_60.test(text) || isNumber(text) || isTime(text);
}

/** `4.22` is a number, `4.22.0` is a text. */
function isNumber(text: string): boolean {
  const digits = text.replace(/^[-+\d]/.test(text) ? /_/g : /(?<=\d)_(?=\d)/g, "");
  return DECIMAL.test(digits) && Number.isFinite(Number(digits)) || isPrefixedInteger(digits);
}

/** Whether it is an integer in base 16, 8 or 2 that fits into 64 bits. */
function isPrefixedInteger(text: string): boolean {
  const [, sign = "", number = ""] = /^([-+]?)(0x[\da-f]+|0o[0-7]+|0b[01]+)$/i.exec(text) ??
    /^()(0b[01]+)$/.exec(text.replace(/^0b[-+]/, "0b")) ?? [];
  if (number === "") return false;
  const most = sign === "" ? 2n ** 64n - 1n : sign === "-" ? 2n ** 63n : 2n ** 63n - 1n;
  return BigInt(number.toLowerCase()) <= most;
}

const TIME =
  /^(\d{4})-(\d\d?)-(\d\d?)(?:(?:[Tt](?=.*(?:Z|[-+]\d\d:\d\d)$)| (?!.*[Z+-]))(\d\d?):(\d\d?):(\d\d?)(?:[.,]\d{1,9})?(?:Z|[-+]\d\d:\d\d)?)?$/;

function isTime(text: string): boolean {
  const parts = TIME.exec(text)?.slice(1).map((part) => Number(part ?? 0));
  if (parts === undefined) return false;
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = parts;
  const days = new Date(Date.UTC(2000 + year % 400, month, 0)).getUTCDate();
  return month >= 1 && month <= 12 && day >= 1 && day <= days && hour < 24 && minute < 60 && second < 60;
}
