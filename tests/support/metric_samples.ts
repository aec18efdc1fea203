// Samples of the text that Prometheus reads.

/** The labels that samples must have. */
export type WantedLabels = Readonly<Record<string, string>>;

/**
 * Sums the samples of a metric, or of a series of a histogram (`…_count`), that have these labels; 0 where none has. Throws where
 * the text has no metric of that name.
 */
export function sumSamples(
  text: string,
  { metric, labels = {} }: { readonly metric: string; readonly labels?: WantedLabels | undefined },
): number {
  const types = new Map([...text.matchAll(/^# TYPE (\S+) (\S+)$/gm)].map(([, name = "", type = ""]) => [name, type]));
  const ofHistogram = types.get(metric.replace(/_(bucket|count|sum)$/, "")) === "histogram";
  if (!types.has(metric) && !ofHistogram) {
    throw new Error(`Cannot read metric "${metric}": there is none of that name.`);
  }
  const wanted = Object.entries(labels).map(([key, value]) => `${key}="${value}"`);
  return text.split("\n").reduce((sum, line) => {
    const match = line.match(/^([\w:]+)(?:\{(.*)\})? (\S+)/);
    const isWanted = match?.[1] === metric && wanted.every((label) => `,${match[2] ?? ""}`.includes(`,${label}`));
    return isWanted ? sum + Number(match[3]) : sum;
  }, 0);
}
