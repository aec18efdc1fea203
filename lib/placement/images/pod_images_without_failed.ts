// Takes from images the architectures on which they failed. A failure is only a hint: if none is left, all stay.
import type { InspectedImage } from "../../oci/inspection.ts";
import type { PodImageInspector } from "./pod_image_inspector.ts";

type FailedArchitectures = (
  image: { readonly digest: string; readonly namespace: string },
) => readonly string[];

export function podImagesWithoutFailed(inner: PodImageInspector, failed: FailedArchitectures): PodImageInspector {
  return {
    permits: inner.permits,
    inspect: async (request, signal) => {
      const { namespace } = request.identity;
      return (await inner.inspect(request, signal)).map((one) => withoutFailed(one, { failed, namespace }));
    },
    recall: (request) => {
      const known = inner.recall(request);
      if (known === undefined) return undefined;
      const { namespace } = request.identity;
      return { ...known, images: known.images.map((one) => withoutFailed(one, { failed, namespace })) };
    },
    prefetch: (request) => inner.prefetch(request),
  };
}

function withoutFailed(
  one: InspectedImage,
  { failed, namespace }: { readonly failed: FailedArchitectures; readonly namespace: string },
): InspectedImage {
  const { inspection } = one;
  if (inspection.kind !== "platforms") return one;
  const failing = failed({ digest: inspection.digest, namespace });
  const platforms = inspection.platforms.filter(({ architecture }) => !failing.includes(architecture));
  if (platforms.length === 0 || platforms.length === inspection.platforms.length) return one;
  const message = `its program has failed on ${failing.join(", ")}, which it claims: left out`;
  const findings = [...inspection.findings, { kind: "FailedArchitecture", message } as const];
  return { ...one, inspection: { ...inspection, platforms, findings } };
}
