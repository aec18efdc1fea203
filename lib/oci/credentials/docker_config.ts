// Docker configs to credentials: the two kinds of pull Secret, and the `auths` of a config.json.
import * as z from "zod";
import { parseJson } from "../files/formats.ts";
import { isDenseText } from "../../json.ts";
import { asParsed, type Fault, type Parsed, unparsable } from "../../parsed.ts";
import type { Credential } from "../credential.ts";

/** The key of the docker config in a Secret of each type, and whether the entries are wrapped in `auths`. */
const SECRET_SHAPES: Readonly<Record<string, { readonly key: string; readonly wrapped: "auths" | "bare" }>> = {
  "kubernetes.io/dockerconfigjson": { key: ".dockerconfigjson", wrapped: "auths" },
  "kubernetes.io/dockercfg": { key: ".dockercfg", wrapped: "bare" },
};

/** Further entries are ignored: handwritten files have fewer, and matching visits each one. */
const MAX_ENTRIES = 1_000;

/** Most members of a config that is parsed. A thousand entries have 6 000; 128 KiB could hold 43 000 objects. */
const MAX_STRUCTURE = 10_000;

const Secret = z.object({ type: z.string().optional(), data: z.record(z.string(), z.unknown()).nullish() });
const JsonObject = z.record(z.string(), z.unknown());
const text = z.string().optional().catch(undefined);
const Entry = z.object({ auth: text, username: text, password: text, identitytoken: text, registrytoken: text });

/** Unparsable: a Secret of another type, or without JSON or `auths`. Broken entries are left out with a warning. */
export function parseDockerConfigSecret(
  secret: unknown,
  source: string,
  { maxBytes = Infinity }: { readonly maxBytes?: number | undefined } = {},
): Parsed<readonly Credential[]> {
  const parsed = Secret.safeParse(secret);
  if (!parsed.success) return unparsable("it is not a Secret");
  const shape = SECRET_SHAPES[parsed.data.type ?? ""];
  if (shape === undefined) return unparsable("its type is not a docker config");
  const encoded = parsed.data.data?.[shape.key];
  if (typeof encoded === "string" && encoded.length > Math.ceil(maxBytes / 3) * 4) {
    return unparsable(`its ${shape.key} is larger than ${Math.floor(maxBytes / 1024)} KiB`);
  }
  const content = typeof encoded === "string" ? decodeBase64Text(encoded) : undefined;
  if (content === undefined) return unparsable(`it has no readable ${shape.key}`);
  if (isDenseText(content, MAX_STRUCTURE)) return unparsable(`its ${shape.key} has more than ${MAX_STRUCTURE} members`);
  const document = parseJson(content);
  if (document.kind === "unparsable") return unparsable(`its ${shape.key} is ${document.fault.message}`);
  const outer = JsonObject.safeParse(document.value);
  const auths = shape.wrapped === "auths" ? outer.data?.auths : outer.data;
  if (auths === undefined || auths === null) return unparsable(`its ${shape.key} has no auths`);
  return parseDockerAuths(auths, source);
}

export function parseDockerAuths(auths: unknown, source: string): Parsed<readonly Credential[]> {
  const entries = JsonObject.safeParse(auths);
  if (!entries.success) return unparsable("its auths are not an object");
  const warnings: Fault[] = [];
  const credentials: Credential[] = [];
  for (const [scope, value] of Object.entries(entries.data).slice(0, MAX_ENTRIES)) {
    const entry = Entry.safeParse(value);
    const found = entry.success ? readEntry(entry.data) : undefined;
    if (found === undefined) warnings.push({ message: `the entry of "${printable(scope)}" is not readable` });
    else credentials.push(...found.map((secret): Credential => ({ scope, source, secret })));
  }
  return asParsed(credentials, warnings);
}

/** All secrets of an entry, strongest first. An empty entry (a credential store's marker) has none. */
function readEntry(entry: z.infer<typeof Entry>): readonly Credential["secret"][] | undefined {
  const basic = readBasic(entry);
  if (basic === undefined) return undefined;
  const tokens = [entry.registrytoken, entry.identitytoken];
  if (tokens.some((token) => token !== undefined && !/^[\x21-\x7e]*$/.test(token.trim()))) return undefined;
  const [registry = "", identity = ""] = tokens.map((token) => token?.trim());
  return [
    ...registry === "" ? [] : [{ kind: "registry", token: registry } as const],
    ...identity === "" ? [] : [{ kind: "identity", token: identity } as const],
    // With an identity token, a user with an empty password is a placeholder.
    ...basic.filter(({ password }) => identity === "" || password !== ""),
  ];
}

/** As in docker, `auth` wins over `username` and `password`. Undefined when `auth` is the only login and malformed. */
function readBasic(
  entry: z.infer<typeof Entry>,
): readonly (Credential["secret"] & { readonly kind: "basic" })[] | undefined {
  const { auth = "", username = "", password = "" } = entry;
  if (auth === "") return username === "" ? [] : [{ kind: "basic", username, password }];
  const pair = decodeUserPassword(auth);
  if (pair !== undefined) return [{ kind: "basic", ...pair }];
  return username === "" ? undefined : [{ kind: "basic", username, password }];
}

/** Decodes base64 `user:password`; the password may hold colons. Undefined when malformed. */
export function decodeUserPassword(auth: string): { readonly username: string; readonly password: string } | undefined {
  const pair = decodeBase64Text(auth);
  const colon = pair?.indexOf(":") ?? -1;
  if (pair === undefined || colon < 1) return undefined;
  return { username: pair.slice(0, colon), password: withoutTrailing(pair.slice(colon + 1), "\0") };
}

/** A registry key that is safe to show: some tools write user info or odd bytes into it. */
function printable(scope: string): string {
  const named = scope.replace(/^.*@/s, "").replace(/:(?!\/\/|\d{1,5}(?:\/|$)).*/s, ":***");
  return named.replace(/[^\x20-\x7e]/g, "?").slice(0, 100);
}

/** Takes one pass: on a tenant's million characters a regular expression would block the process for minutes. */
function withoutTrailing(text: string, sign: string): string {
  let end = text.length;
  while (text[end - 1] === sign) end--;
  return text.slice(0, end);
}

/** Decodes standard or URL-safe base64 of UTF-8, padded or not, ignoring white space; undefined when malformed. */
function decodeBase64Text(encoded: string): string | undefined {
  const spaceless = encoded.replace(/\s+/g, "").replaceAll("-", "+").replaceAll("_", "/");
  const plain = withoutTrailing(spaceless, "=");
  if (!/^[A-Za-z0-9+/]*$/.test(plain) || plain.length % 4 === 1) return undefined;
  const binary = atob(plain);
  const bytes = new Uint8Array(binary.length);
  // Five times as fast as Uint8Array.from with a callback.
  for (let at = 0; at < binary.length; at++) bytes[at] = binary.charCodeAt(at);
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}
