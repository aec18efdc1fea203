// Answers the questions of a decision to registries: several questions at a time, each read anew. No answer is kept: between two
// reconciles another client may have pushed, moved or deleted what was there.
import pLimit from "p-limit";
import type { Repositories } from "../assemble/repositories.ts";
import type { Clock } from "../clock.ts";
import { questionKey, type RegistryAnswer, type RegistryQuestion } from "../image_builds/registry.ts";
import { InspectionError } from "../oci/errors.ts";
import { PushError } from "../oci/push/push_error.ts";
import { withRetries } from "../oci/push/retries.ts";
import { unreachable } from "../unreachable.ts";
import { type FoundImage, lookUpImage } from "./look_up_image.ts";

/** The registries with the credentials of one MachineOSConfig. */
export interface BuildRegistries {
  /** With the push secret. */
  readonly push: Repositories;
  /** With the pull secret. */
  readonly pull: Repositories;
}

/** What answering takes. */
export interface AnswerDeps {
  readonly registries: BuildRegistries;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

/** Questions asked at a time. */
const ASKED_AT_ONCE = 8;

/** The answers by the key of their question. Rejects only with the signal's reason and for faults that are no registry's. */
export async function answerQuestions(
  questions: readonly RegistryQuestion[],
  deps: AnswerDeps,
): Promise<ReadonlyMap<string, RegistryAnswer>> {
  const limit = pLimit(ASKED_AT_ONCE);
  const answers = await Promise.all(
    questions.map((question) =>
      limit(async () => [questionKey(question), await answerQuestion(question, deps)] as const)
    ),
  );
  return new Map(answers);
}

async function answerQuestion(question: RegistryQuestion, deps: AnswerDeps): Promise<RegistryAnswer> {
  const { registries: { push, pull }, clock, signal } = deps;
  const toPush = { repositories: push, clock, signal };
  switch (question.kind) {
    case "image":
      return await answerImage(question.reference, deps);
    case "platforms": {
      const found = await lookUpImage({ image: question.reference, from: "mirrors" }, {
        ...toPush,
        repositories: pull,
      });
      return platformsOf(found) ?? other(found, clock);
    }
    case "tag": {
      const found = await lookUpImage({ image: question.reference, from: "own" }, toPush);
      if (found.kind === "index") {
        return { kind: "tag", digest: found.digest, children: found.entries.map(({ digest }) => digest) };
      }
      return found.kind === "image" ? { kind: "tag", digest: found.digest, children: [] } : other(found, clock);
    }
    case "push":
      return await answerPush(question.repository, deps);
    default:
      return unreachable(question);
  }
}

/** Some builders push an index of one image beside attestations: that image is meant. */
async function answerImage(
  reference: string,
  { registries: { push }, clock, signal }: AnswerDeps,
): Promise<RegistryAnswer> {
  const deps = { repositories: push, clock, signal };
  const found = await lookUpImage({ image: reference, from: "own" }, deps);
  if (found.kind !== "index") return imageOf(found) ?? other(found, clock);
  const [entry, ...more] = found.entries;
  if (entry === undefined || more.length > 0) {
    return { kind: "unusable", message: `it is an index of ${found.entries.length} images` };
  }
  const { host, repository } = push.targetOf(reference);
  const inner = await lookUpImage({ image: `${host}/${repository}@${entry.digest}`, from: "own" }, deps);
  return imageOf(inner) ?? other(inner, clock);
}

function imageOf(found: FoundImage): RegistryAnswer | undefined {
  if (found.kind !== "image") return undefined;
  const { digest, mediaType, size, labels, platform: { os, architecture } } = found;
  return { kind: "image", digest, mediaType, size, os, architecture, labels };
}

function platformsOf(found: FoundImage): RegistryAnswer | undefined {
  if (found.kind === "image") {
    return { kind: "platforms", isIndex: false, architectures: [found.platform.architecture] };
  }
  if (found.kind !== "index") return undefined;
  const linux = found.entries.filter(({ platform }) => platform.os === "linux" || platform.os === "");
  return { kind: "platforms", isIndex: true, architectures: linux.map(({ platform }) => platform.architecture) };
}

function other(found: FoundImage, clock: Clock): RegistryAnswer {
  switch (found.kind) {
    case "absent":
      return { kind: "absent" };
    case "denied":
      return { kind: "denied", message: found.message };
    case "unusable":
      return { kind: "unusable", message: found.message };
    case "unknown": {
      const { message, retryAfterMs } = found;
      return {
        kind: "unknown",
        message,
        retryAtMs: retryAfterMs === undefined ? undefined : clock.nowMs() + retryAfterMs,
      };
    }
    case "image":
    case "index":
      return { kind: "unusable", message: "it is not what was asked for" };
    default:
      return unreachable(found);
  }
}

/** Begins an upload and gives it up: what a registry grants is only known when it is used. */
async function answerPush(
  repository: string,
  { registries: { push }, clock, signal }: AnswerDeps,
): Promise<RegistryAnswer> {
  try {
    const target = await push.target(push.targetOf(`${repository}:probe`));
    const upload = await withRetries(() => target.startUpload(), { clock, signal });
    // A registry that keeps it drops it by itself.
    await target.sendToUpload(upload, { message: { method: "DELETE" } }).catch(() => undefined);
    return { kind: "granted" };
  } catch (error) {
    if (signal.aborted || !(error instanceof PushError || error instanceof InspectionError)) throw error;
    const { failure: { kind, message, reason, retryAfterMs } } = error;
    if (reason === "Unauthorized" || reason === "PushDenied") return { kind: "denied", message };
    const retryAtMs = retryAfterMs === undefined ? undefined : clock.nowMs() + retryAfterMs;
    return kind === "transient" ? { kind: "unknown", message, retryAtMs } : { kind: "denied", message };
  }
}
