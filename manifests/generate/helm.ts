// `deno task helm`: writes the chart's templates from what kustomize renders. Needs kubectl. Values and notes are kept
// by hand.
import { join } from "node:path";
import { type ChartSources, renderTemplates, withMember } from "./chart.ts";
import { EXTRA_ARGUMENT, FEATURES, placeholderOf, SETTINGS } from "./features.ts";
import { imageOf, MANIFESTS, renderComposition, renderFolder } from "./kustomize.ts";

export const CHART: string = join(MANIFESTS, "helm", "archway");

export async function readChartSources(): Promise<ChartSources> {
  const base = await renderFolder("base");
  const features = [];
  for (const { condition, overlay = "base", component } of FEATURES) {
    features.push({
      condition,
      objects: await renderComposition(overlay, component === undefined ? [] : [component]),
    });
  }
  for (const { value, path } of SETTINGS) {
    features.push({ condition: `.Values.${value}`, objects: withMember(base, { path, value: placeholderOf(value) }) });
  }
  const withExtraArgument = withMember(base, {
    path: "/spec/template/spec/containers/0/args/-",
    value: EXTRA_ARGUMENT,
  });
  return { base, features, withExtraArgument, image: imageOf(base) };
}

async function writeTemplates(): Promise<void> {
  const folder = join(CHART, "templates");
  for await (const { name } of Deno.readDir(folder)) {
    if (name.endsWith(".yaml")) await Deno.remove(join(folder, name));
  }
  for (const [name, text] of renderTemplates(await readChartSources())) {
    await Deno.writeTextFile(join(folder, name), text);
  }
}

if (import.meta.main) await writeTemplates();
