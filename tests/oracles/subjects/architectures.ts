// The architectures of an image, from its documents, as a pod of that image alone is placed by them. See README.md.
import { parseImageConfig, parseManifest } from "../../../lib/oci/image/manifest.ts";
import { readImage } from "../../../lib/oci/image_reader.ts";
import type { ReadManifest } from "../../../lib/oci/repository_documents.ts";
import { judgeImages } from "../../../lib/placement/decide/judge_images.ts";
import { makeSettings } from "../../support/placement_settings.ts";
import { podOf, rawPod } from "../../lib/placement/decide/make.ts";
import { type Document, makeEntry, makeImage, makeIndex, MediaType } from "../../support/documents.ts";
import { makeEndpoint } from "../../support/inspectors.ts";
import type { Draw, Subject } from "../subject.ts";

interface Held {
  readonly mediaType: string;
  readonly body: string;
}

interface Given {
  readonly tag: string;
  readonly documents: Readonly<Record<string, Held>>;
}

const TAG = "v1";
const NAMES = ["amd64", "arm64", "ppc64le", "s390x", "arm", "riscv64"] as const;
const LABELS = [
  { maintainer: "someone" },
  { "operators.operatorframework.io.bundle.mediatype.v1": "registry+v1" },
  { "operators.operatorframework.io.metrics.builder": "" },
] as const;
const ABOUT = ["vnd.docker.reference.type", "vnd.docker.reference.digest", "org.example.note"] as const;

type Image = ReturnType<typeof makeImage>;

function drawImage(draw: Draw, architecture: string): Image {
  return makeImage({
    architecture,
    form: draw.pick(["oci", "docker"]),
    ...draw.chance(0.3) ? { labels: draw.pick<Record<string, string>>([...LABELS]) } : {},
  });
}

function drawEntry(
  draw: Draw,
  { image, architecture }: { readonly image: Image; readonly architecture: string },
  aboutAnother: number,
): unknown {
  return makeEntry(image.manifest, {
    platform: { os: "linux", architecture, ...architecture === "arm" ? { variant: "v7" } : {} },
    ...draw.chance(aboutAnother) ? { annotations: { [draw.pick(ABOUT)]: "attestation-manifest" } } : {},
  });
}

function drawIndex(draw: Draw): readonly [top: Document, others: readonly Document[]] {
  const names = draw.many(draw.below(5), () => draw.chance(0.15) ? "unknown" : draw.pick(NAMES));
  const images = names.map((name) => drawImage(draw, name));
  // The first is one to run, where any is: see README.md.
  const share = (at: number): number => at > 0 && names[0] !== "unknown" ? 0.3 : 0;
  const entries = images.map((image, at) => drawEntry(draw, { image, architecture: names[at] ?? "" }, share(at)));
  const mediaType = draw.pick([MediaType.ociIndex, MediaType.dockerList]);
  return [makeIndex(entries, { mediaType }), images.flatMap(({ manifest, config }) => [manifest, config])];
}

function drawGiven(draw: Draw): Given {
  const single = drawImage(draw, draw.pick(NAMES));
  const [top, others] = draw.chance(0.3) ? [single.manifest, [single.config]] : drawIndex(draw);
  const held = ({ mediaType, text }: Document): Held => ({ mediaType, body: text });
  // What a registry has lost.
  const kept = others.filter(() => !draw.chance(0.05));
  return {
    tag: TAG,
    documents: { [TAG]: held(top), ...Object.fromEntries(kept.map((one) => [one.digest, held(one)])) },
  };
}

function documentOf({ documents }: Given, name: string): Promise<Held> {
  const found = documents[name];
  return found === undefined ? Promise.reject(new Error(`no ${name}`)) : Promise.resolve(found);
}

export const ARCHITECTURES: Subject<Given> = {
  name: "architectures",
  original: "multiarch-tuning-operator",
  ask: "architectures",
  count: 500,
  kept: 100,
  draw: drawGiven,
  async ours(given): Promise<unknown> {
    const image = `registry.test/org/app:${TAG}`;
    const read = async (digest: string): Promise<ReadManifest> => {
      const { body, mediaType } = await documentOf(given, digest);
      return { manifest: parseManifest(body, mediaType), digest };
    };
    const documents = {
      endpoint: makeEndpoint("registry.test", { repository: "org/app", identifier: TAG }),
      credential: undefined,
      manifest: () => read(TAG),
      child: read,
      config: async (manifest: Parameters<Parameters<typeof readImage>[0]["config"]>[0]) => {
        if (manifest.kind !== "manifest") throw new Error("none of these has another");
        return parseImageConfig((await documentOf(given, manifest.config.digest)).body);
      },
    };
    try {
      // As it is read again where its labels could matter.
      const { inspection } = await readImage(documents, "config");
      const pod = podOf(rawPod({ containers: [{ name: "app", image }] }));
      const wanted = [{ image, pullsAlways: false }];
      const judged = judgeImages(pod, makeSettings(), wanted, [{ image, inspection }]);
      return { architectures: judged.kind === "shared" ? judged.architectures : null };
    } catch {
      return { architectures: null };
    }
  },
};
