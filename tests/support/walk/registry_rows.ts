// Pods whose images need credentials, mirrors, search registries or trust.
import type { JsonObject } from "../../../playground/json_path.ts";
import { GIVEN_UP, M4, placed } from "./ends.ts";
import { DEAD_HOST } from "./registries.ts";
import type { Expected, Scenario } from "./scenario.ts";
import type { WalkSubject } from "./subject.ts";

export function registryRows(walk: WalkSubject): readonly Scenario[] {
  const { host, insecureHost, digestOf } = walk;
  const digest = digestOf("m4");
  const local = (name: string): JsonObject => ({ imagePullSecrets: [{ name }] });
  const pulls = (name: string, image: string, expect: Expected = M4): Scenario => ({ name, images: [image], expect });
  return [
    pulls("E-22 a private image without credentials", `${host}/local/hello:m4`, GIVEN_UP),
    pulls(
      "E-23 PR-05 DV-114 a private image by the global pull secret",
      `${host}/global/hello:rp`,
      placed(["arm64", "ppc64le"]),
    ),
    { ...pulls("E-25 PR-06 TM-06 a private image by a pull secret", `${host}/local/hello:m4`), spec: local("exact") },
    { ...pulls("E-26 a private image by a glob key", `${host}/local/hello:m4`), spec: local("glob") },
    {
      name: "E-27 four private images of both secrets",
      images: ["global/hello:m4", "global/hello:r", "local/hello:rp", "local/hello:r"].map((each) => `${host}/${each}`),
      spec: local("exact"),
      expect: placed(["arm64"]),
    },
    pulls("E-28 an insecure registry", `${insecureHost}/hello:m4`),
    pulls("E-30 a registry of an added authority", `${host}/hello:m4`),
    pulls("E-31 a blocked repository", `${host}/blocked:m4`, GIVEN_UP),
    pulls("E-32 a short name by the search registry", "hello:m4"),
    pulls("DV-108 a short name that the first search registry does not have", "only/hello:m4"),
    pulls("E-33 a digest by its mirror, the source dead", `${DEAD_HOST}/icsp@${digest}`),
    pulls("E-34 a digest by its mirror, the source never contacted", `${DEAD_HOST}/idms@${digest}`),
    pulls("E-35 a tag by its source, the mirror dead", `${host}/allow:m4`),
    pulls("E-36 a tag, its mirror dead and the source never contacted", `${host}/never:m4`, GIVEN_UP),
    pulls("E-37 E-40 a port, a tag and a digest", `${host}/hello:m4@${digest}`),
    pulls("E-38 a port and a digest", `${host}/hello@${digest}`),
    pulls("E-39 a port and a tag", `${host}/hello:m4`),
  ];
}
