// `deno task figures`: writes docs/figures.md from the committed results.
import { type ClusterEntry, type IndexesEntry, renderFigures, type RouteEntry } from "./figures_page.ts";
import { readResults, type ResultEntry } from "./results_file.ts";

export const FILES = {
  cluster: new URL("./results/cluster.json", import.meta.url).pathname,
  route: new URL("./results/route.json", import.meta.url).pathname,
  growth: new URL("./results/growth.json", import.meta.url).pathname,
  page: new URL("../../docs/figures.md", import.meta.url).pathname,
} as const;

export async function renderCommitted(): Promise<string> {
  const { route } = await readResults<RouteEntry>(FILES.route);
  const { indexes } = await readResults<IndexesEntry>(FILES.route);
  const points = await readResults<ResultEntry>(FILES.growth);
  const growth = Object.values(points).map(({ machine }) => machine);
  return renderFigures({ cluster: await readResults<ClusterEntry>(FILES.cluster), route, indexes, growth });
}

if (import.meta.main) await Deno.writeTextFile(FILES.page, await renderCommitted());
