// Writes an index by digest, then by tag, and reads the tag back. Readers never see an incomplete index.
import type { Clock } from "../../clock.ts";
import type { IndexDocument } from "../decide/plan_index.ts";
import { PushError } from "../../oci/push/push_error.ts";
import { withRetries } from "../../oci/push/retries.ts";
import type { ManifestContent, TargetRepository } from "../../oci/push/target_repository.ts";

interface Publication {
  readonly target: TargetRepository;
  readonly tag: string;
  readonly forms: readonly [IndexDocument, ...IndexDocument[]];
}

export interface PublishDeps {
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** Called before the tag is written, since it may name the index from then on, and after a refusal. */
  readonly onTag: (state: "may be written" | "refused") => void;
}

/** Publishes an index and returns the accepted form. Throws PushError or RegistryError. */
export async function publishIndex({ target, tag, forms }: Publication, deps: PublishDeps): Promise<IndexDocument> {
  const form = await pushByDigest(target, forms, deps);
  await pushByTag({ target, tag, form }, deps);
  await withRetries(async () => {
    const digest = await target.readDigest(tag);
    if (digest === form.digest) return;
    const found = digest === undefined ? "is not there" : `names ${digest}`;
    const message = `Cannot trust "${target.name}:${tag}": it ${found} after it was pushed as ${form.digest}. ` +
      "Somebody else may push the same tag: look at it again.";
    throw target.failure("ServerError", message, "transient");
  }, deps);
  return form;
}

async function pushByDigest(
  target: TargetRepository,
  forms: readonly [IndexDocument, ...IndexDocument[]],
  deps: PublishDeps,
): Promise<IndexDocument> {
  let refusal: PushError | undefined;
  for (const form of forms) {
    try {
      await withRetries(() => target.putManifest(form.digest, contentOf(form)), deps);
      return form;
    } catch (error) {
      if (!(error instanceof PushError) || error.failure.reason !== "MediaTypeRefused") throw error;
      refusal = error;
    }
  }
  const [{ form }] = forms;
  const advice = form === "docker"
    ? "It takes neither of Docker's lists nor an OCI index."
    : "It takes no OCI index: push the images in Docker's form (format v2s2 of buildah and skopeo), which makes a Docker list.";
  throw target.failure("MediaTypeRefused", `${refusal?.message ?? ""} ${advice}`.trim());
}

async function pushByTag(
  { target, tag, form }: Pick<Publication, "target" | "tag"> & { readonly form: IndexDocument },
  deps: PublishDeps,
): Promise<void> {
  deps.onTag("may be written");
  try {
    await withRetries(() => target.putManifest(tag, contentOf(form)), deps);
  } catch (error) {
    const failure = error instanceof PushError ? error.failure : undefined;
    if (failure?.kind === "permanent" && failure.reason !== "DigestMismatch") deps.onTag("refused");
    throw error;
  }
}

function contentOf({ mediaType, digest, text }: IndexDocument): ManifestContent {
  return { mediaType, digest, bytes: new TextEncoder().encode(text) };
}
