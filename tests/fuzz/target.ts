// What strangers send, for a coverage-guided fuzzer: every parser answers, and throws nothing. The first byte says which one.
import { Buffer } from "node:buffer";
import { parseYaml } from "../../lib/vocabulary/yaml.ts";
import { parseChallenges } from "../../lib/oci/auth/challenge.ts";
import { parsePolicy } from "../../lib/oci/config/policy.ts";
import { parseRegistriesConf } from "../../lib/oci/config/registries_conf.ts";
import { parseJson, parseToml } from "../../lib/oci/files/formats.ts";
import { parseImageConfig, parseManifest } from "../../lib/oci/image/manifest.ts";
import { parseReference } from "../../lib/oci/reference.ts";

const INDEX = "application/vnd.oci.image.index.v1+json";

const PARSERS: readonly ((text: string) => unknown)[] = [
  (text) => parseManifest(text, INDEX),
  parseImageConfig,
  parseReference,
  parseChallenges,
  parseJson,
  parseToml,
  parseYaml,
  parseRegistriesConf,
  parsePolicy,
];

/** Called by the fuzzer with bytes of its own. */
export function fuzz(data: Uint8Array): void {
  const [first = 0] = data;
  PARSERS[first % PARSERS.length]?.(Buffer.from(data.subarray(1)).toString("utf8"));
}
