// The registries that pods of the walk pull from, what is in them, and the node's configuration that leads to them.
import { systemClock } from "../../../lib/clock.ts";
import { issueLoopbackCertificates } from "../../../playground/listen.ts";
import type { JsonObject } from "../../../playground/json_path.ts";
import { openRegistry, type Registry } from "../../../playground/registry.ts";
import type { ImageDescription } from "../../../playground/registry_images.ts";
import type { KeyPair } from "../../../lib/server/https_listener.ts";

/** Namespace of the service itself. */
export const OPERATOR_NAMESPACE = "archway-system";
/** Nothing listens there. */
export const DEAD_HOST = "127.0.0.1:1";

/** Who may pull from the repositories behind `global` and `local`. */
export const USER = { name: "walker", password: "swordfish" };
const ALL = ["amd64", "arm64", "ppc64le", "s390x"] as const;

/** Repositories, each with the tags `m4`, `r`, `ar`, `rp`, `p` and `ps`; those behind `global` and `local` want credentials. */
const REPOSITORIES = ["hello", "allow", "never", "blocked", "global/hello", "local/hello"];
/** In the trusted registry alone. */
const ONLY_THERE = "only/hello";
const TAGS: Readonly<Record<string, readonly string[]>> = {
  m4: ALL,
  r: ["arm64"],
  ar: ["amd64", "arm64"],
  rp: ["arm64", "ppc64le"],
  p: ["ppc64le"],
  ps: ["ppc64le", "s390x"],
};

function walkImages(repositories: readonly string[]): readonly ImageDescription[] {
  const bundle = (tag: string, form: ImageDescription["form"], label: string): ImageDescription => ({
    repository: "hello",
    tag,
    architectures: form === "oci-index" ? ["ppc64le", "arm64"] : ["ppc64le"],
    form,
    labels: { [label]: "" },
  });
  return [
    ...repositories.flatMap((repository) =>
      Object.entries(TAGS).map(([tag, architectures]): ImageDescription => ({
        repository,
        tag,
        architectures,
        form: architectures.length === 1 ? "oci-manifest" : "docker-list",
        access: repository.startsWith("global") ? "token" : repository.startsWith("local") ? "basic" : "anonymous",
      }))
    ),
    bundle("bundle-index", "oci-index", "operators.operatorframework.io.metrics.builder"),
    bundle("bundle-manifest", "oci-manifest", "operators.operatorframework.io.bundle.package.v1"),
  ];
}

export function trustedImages(): readonly ImageDescription[] {
  return walkImages([...REPOSITORIES, ONLY_THERE]);
}

export interface WalkRegistries extends AsyncDisposable {
  /** Host of the registry whose authority is trusted. */
  readonly host: string;
  /** Its certificate is of an unknown authority, and it is declared insecure. */
  readonly insecureHost: string;
  /** Its certificate is of an unknown authority. */
  readonly untrustedHost: string;
  digestOf(tag: string): string;
}

/** Opens all three; `certificate` is that of the trusted one. */
export async function openWalkRegistries(
  certificate: KeyPair,
  intercept: (request: Request) => Response | undefined = () => undefined,
): Promise<WalkRegistries> {
  await using undo = new AsyncDisposableStack();
  const stranger = (await issueLoopbackCertificates(systemClock.nowMs())).serving;
  const trusted = undo.use(await open(certificate, trustedImages(), intercept));
  const insecure = undo.use(await open(stranger, walkImages(REPOSITORIES)));
  const untrusted = undo.use(await open(stranger, walkImages(REPOSITORIES)));
  const owned = undo.move();
  return {
    host: trusted.host,
    insecureHost: insecure.host,
    untrustedHost: untrusted.host,
    digestOf: (tag) => trusted.digestOf("hello", tag) ?? "",
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

function open(
  certificate: KeyPair,
  images: readonly ImageDescription[],
  intercept: (request: Request) => Response | undefined = () => undefined,
): Promise<Registry> {
  return openRegistry({ images, user: USER, certificate, intercept });
}

/** Mirrors as ICSP, IDMS and ITMS are rendered to nodes, a blocked repository and two search registries. */
export function renderRegistriesConf({ host, insecureHost }: Pick<WalkRegistries, "host" | "insecureHost">): string {
  const entry = (prefix: string, blocked: boolean, mirror?: readonly [string, string]): string =>
    [
      `[[registry]]\nprefix = "${prefix}"\nlocation = "${prefix}"\nblocked = ${blocked}\n`,
      ...(mirror === undefined
        ? []
        : [`[[registry.mirror]]\nlocation = "${mirror[0]}"\npull-from-mirror = "${mirror[1]}"\n`]),
    ].join("");
  return [
    `unqualified-search-registries = ["${insecureHost}", "${host}"]\n`,
    entry(`${DEAD_HOST}/icsp`, false, [`${host}/hello`, "digest-only"]),
    entry(`${DEAD_HOST}/idms`, true, [`${host}/hello`, "digest-only"]),
    entry(`${host}/allow`, false, [`${DEAD_HOST}/allow`, "tag-only"]),
    entry(`${host}/never`, true, [`${DEAD_HOST}/never`, "tag-only"]),
    entry(`${host}/blocked`, true),
  ].join("\n");
}

/** A secret of credentials for some repositories, by the keys of its `auths`. */
export function pullSecret(name: string, keys: readonly string[]): JsonObject {
  const auth = btoa(`${USER.name}:${USER.password}`);
  const auths = Object.fromEntries(keys.map((key) => [key, { auth }]));
  return {
    metadata: { name },
    type: "kubernetes.io/dockerconfigjson",
    data: { ".dockerconfigjson": btoa(JSON.stringify({ auths })) },
  };
}
