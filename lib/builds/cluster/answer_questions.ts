// Answers a decision's questions to registries. No answer is kept: another client may push, move or delete in between.
import pLimit from "p-limit";
import { readJoinableConfig, readJoinableImage } from "../../publishing/assemble/read_child.ts";
import type { Clock } from "../../clock.ts";
import { questionKey, type RegistryAnswer, type RegistryQuestion } from "../decide/observed.ts";
import { RegistryError } from "../../oci/errors.ts";
import { linuxArchitectures } from "../../oci/image/platforms.ts";
import { PushError } from "../../oci/push/push_error.ts";
import { withRetries } from "../../oci/push/retries.ts";
import { type OpenImage, Repositories, type RepositoriesDeps } from "../../oci/repositories.ts";
import type { KubeObject } from "../../k8s/types.ts";
import type { Credential, Keyring } from "../../oci/credential.ts";
import { parseDockerConfigSecret } from "../../oci/credentials/docker_config.ts";
import { matchCredentials } from "../../oci/credentials/match.ts";

export interface BuildRegistries {
  readonly push: Repositories;
  readonly pull: Repositories;
}

export interface AnswerDeps {
  readonly registries: BuildRegistries;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

const MAX_PARALLEL_QUESTIONS = 8;

export async function answerQuestions(
  questions: readonly RegistryQuestion[],
  deps: AnswerDeps,
): Promise<ReadonlyMap<string, RegistryAnswer>> {
  const limit = pLimit(MAX_PARALLEL_QUESTIONS);
  const answers = await Promise.all(
    questions.map((question) =>
      limit(async () => [questionKey(question), await answerQuestion(question, deps)] as const)
    ),
  );
  return new Map(answers);
}

async function answerQuestion(question: RegistryQuestion, deps: AnswerDeps): Promise<RegistryAnswer> {
  return question.kind === "push"
    ? await answerPush(question.repository, deps)
    : await lookUpImage(question, deps.registries, deps.signal);
}

export async function lookUpImage(
  { kind, reference: image }: Exclude<RegistryQuestion, { kind: "push" }>,
  { push, pull }: BuildRegistries,
  signal: AbortSignal,
): Promise<RegistryAnswer> {
  try {
    if (kind === "platforms") return await pull.read({ image, retries: "none" }, platformsAt);
    // Asks the registry itself and none of its mirrors; each request is retried a few times.
    const own = { image, retries: "bounded", endpoints: [push.targetOf(image)] } as const;
    if (kind === "image") return await push.read(own, imageAt);
    const { digest } = await push.read(own, ({ top }) => top);
    return { kind: "exists", digest };
  } catch (error) {
    if (signal.aborted || !(error instanceof RegistryError)) throw error;
    const { reason, message } = error.failure;
    // The digest differed at each retry: the registry, or a proxy, has other content.
    return kind === "tag" && reason === "DigestMismatch" ? { kind: "unusable", message } : failedLookUp(error);
  }
}

/** Reads the image, or the only image of an index: some builders push an index of one image and its attestations. */
async function imageAt(opened: OpenImage): Promise<RegistryAnswer> {
  const read = await readJoinableImage(opened.endpoint.identifier, opened);
  if (read.kind === "problem") return { kind: "unusable", message: read.state };
  const { digest, mediaType, size, platform, labels } = read;
  return { kind: "image", digest, mediaType, size, platform, labels };
}

async function platformsAt({ top: { manifest, digest }, documents }: OpenImage): Promise<RegistryAnswer> {
  if (manifest.kind !== "index") {
    const config = await readJoinableConfig(documents, manifest);
    return config.kind === "problem"
      ? { kind: "unusable", message: config.state }
      : { kind: "platforms", architectures: [config.platform.architecture], digest };
  }
  const architectures = linuxArchitectures(manifest.entries.flatMap(({ platform }) => platform ?? []));
  return { kind: "platforms", architectures, digest };
}

function failedLookUp({ failure: { kind, reason, message, retryAfterMs } }: RegistryError): RegistryAnswer {
  if (kind === "transient") return { kind: "unknown", message, retryAfterMs };
  if (reason === "ManifestUnknown") return { kind: "absent" };
  if (reason === "Unauthorized") return { kind: "denied", message };
  // Other permanent failures, such as a blocked address, end when an administrator acts: then a retry helps.
  return { kind: reason === "Malformed" || reason === "NotAnImage" ? "unusable" : "unknown", message };
}

/** Starts an upload and cancels it, since only a push shows whether the registry allows one. */
async function answerPush(
  repository: string,
  { registries: { push }, clock, signal }: AnswerDeps,
): Promise<RegistryAnswer> {
  try {
    const target = await push.target(push.targetOf(`${repository}:probe`));
    const upload = await withRetries(() => target.startUpload(), { clock, signal });
    // A registry that refuses to cancel drops the unfinished upload after a while.
    await target.sendToUpload(upload, { message: { method: "DELETE" } }).catch(() => undefined);
    return { kind: "granted" };
  } catch (error) {
    if (signal.aborted || !(error instanceof PushError || error instanceof RegistryError)) throw error;
    const { kind, message, retryAfterMs } = error.failure;
    return kind === "transient" ? { kind: "unknown", message, retryAfterMs } : { kind: "denied", message };
  }
}

export interface RegistrySecrets {
  readonly push: KubeObject | undefined;
  readonly pull: KubeObject | undefined;
}

export function openBuildRegistries({ push, pull }: RegistrySecrets, deps: RepositoriesDeps): BuildRegistries {
  const open = (secret: KubeObject | undefined): Repositories =>
    new Repositories({
      ...deps,
      access: { ...deps.access, keyring: withFirst(credentialsOf(secret), deps.access.keyring) },
    });
  return { push: open(push), pull: open(pull) };
}

function credentialsOf(secret: KubeObject | undefined): readonly Credential[] {
  if (secret === undefined) return [];
  const { namespace = "", name } = secret.metadata;
  const parsed = parseDockerConfigSecret(secret, `secret ${namespace}/${name}`);
  return parsed.kind === "parsed" ? parsed.value : [];
}

function withFirst(own: readonly Credential[], keyring: Keyring): Keyring {
  return {
    credentialsFor: async (endpoint, signal) => [
      ...matchCredentials(own, endpoint),
      ...await keyring.credentialsFor(endpoint, signal),
    ],
  };
}
